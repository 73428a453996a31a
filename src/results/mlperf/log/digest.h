// XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), seed 0: a fast check for equal files.
#pragma once

#include <cstdint>
#include <string_view>

namespace bench::mlperf {

std::uint64_t digest_of(std::string_view bytes);

}  // namespace bench::mlperf

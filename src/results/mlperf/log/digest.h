// XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), seed 0: tells equal files quickly.
#pragma once

#include <cstdint>
#include <string_view>

namespace bench::mlperf {

std::uint64_t digest_of(std::string_view bytes);

}  // namespace bench::mlperf

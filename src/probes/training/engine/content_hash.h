// A hash of what lies in memory, for noticing that two copies differ or that a file was damaged: 64
// bits, at the speed of memory. Not for hostile input that is made to collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bench::training {

std::uint64_t content_hash(std::span<const std::byte> bytes);

/// "00c0ffee00c0ffee"
std::string hash_text(std::uint64_t hash);

}  // namespace bench::training

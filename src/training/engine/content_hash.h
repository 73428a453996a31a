// A fast 64-bit hash of memory, for detecting that two copies differ or that a file is damaged. Not
// safe against input built to collide.
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

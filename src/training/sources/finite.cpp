#include "training/sources/finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace bench::training {
namespace {

constexpr std::uint64_t kRounds = 6;

}  // namespace

FiniteOrder::FiniteOrder(std::uint64_t size, std::uint64_t seed,
                         std::optional<std::uint64_t> available)
    : size_(size),
      seed_(seed),
      half_bits_(std::max(1, (static_cast<int>(std::bit_width(size)) + 1) / 2)) {
  if (size == 0 || size > std::uint64_t{1} << 62)
    throw Error(ErrorKind::usage, fmt::format("invalid epoch size: {} samples", size),
                "use 1 to 2^62 samples");
  if (available && *available < size)
    throw Error(ErrorKind::usage,
                fmt::format("{} samples requested, but the source has {}", size, *available),
                "request no more samples than available");
}

std::uint64_t FiniteOrder::at(std::uint64_t position) const {
  const RandomStream keys = random_stream(seed_, epoch(position));
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t at = position % size_;
  do {  // on a power of four below eight times `size`
    std::uint64_t left = at >> half_bits_, right = at & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t mixed = left ^ (random_bits(keys.bits(round), right) & mask);
      left = right;
      right = mixed;
    }
    at = left << half_bits_ | right;
  } while (at >= size_);
  return at;
}

}  // namespace bench::training

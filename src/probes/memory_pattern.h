// The numbers that arrays in any memory are filled with: integers that are different for every
// element (up to 2^32 of them), so that a copy to the wrong place is seen, small enough that all
// arithmetic on them in f64 is exact, and spread like random ones (a ramp or zeros would be kinder
// to the hardware). Host and GPU code share them, so that either can check the other.
#pragma once

#include <cstdint>

namespace bench {

/// |value| <= 2^31. Multiplication by an odd number maps 2^32 indices to as many values.
constexpr double pattern(std::uint64_t index) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(index) * 2654435761u);
}

}  // namespace bench

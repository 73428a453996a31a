// Numbers as files have them, at any address.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace bench::training {

/// The little-endian number at `from`; sizeof(Number) bytes must be there.
template <std::unsigned_integral Number>
constexpr Number little_endian(const std::byte* from) {
  Number value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i)
    value = static_cast<Number>(value |
                                static_cast<Number>(std::to_integer<Number>(from[i]) << (8 * i)));
  return value;
}

}  // namespace bench::training

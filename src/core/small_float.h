// Floats of 4 to 16 bits: sign, exponent, fraction; made from and read as f64.
#pragma once

#include <array>
#include <cstdint>

namespace bench {

struct SmallFloat {
  /// What the patterns of the highest exponent mean.
  enum class Specials {
    infinities,  // infinity and NaN, as in IEEE 754
    one_nan,     // e4m3: only the pattern of all ones is NaN
    none         // e2m1: every pattern is a number
  };
  int exponent_bits;
  int fraction_bits;
  Specials specials;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// Of finite numbers, with the bias.
  constexpr int highest_exponent() const {
    return (1 << exponent_bits) - (specials == Specials::infinities ? 2 : 1);
  }
  double largest() const;
};

inline constexpr SmallFloat kF16{5, 10, SmallFloat::Specials::infinities};
inline constexpr SmallFloat kE4m3{4, 3, SmallFloat::Specials::one_nan};
inline constexpr SmallFloat kE5m2{5, 2, SmallFloat::Specials::infinities};
inline constexpr SmallFloat kE2m1{2, 1, SmallFloat::Specials::none};

/// To nearest, ties to even; what is too large becomes the largest number. NaN becomes all ones,
/// which e2m1 reads as its largest.
std::uint32_t to_bits(double value, const SmallFloat& type);
double from_bits(std::uint32_t bits, const SmallFloat& type);

/// The values of the first `count` patterns.
template <std::size_t count>
std::array<double, count> table(const SmallFloat& type) {
  std::array<double, count> values{};
  for (std::size_t bits = 0; bits < count; ++bits)
    values[bits] = from_bits(static_cast<std::uint32_t>(bits), type);
  return values;
}

}  // namespace bench

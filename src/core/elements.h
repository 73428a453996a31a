// Elements of every dtype in memory, made from and read as f64, which holds all their values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype.h"

namespace bench {

// Floats of 4 to 16 bits: sign, exponent, fraction; made from and read as f64.

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

/// Writes the value at `at`, rounded to nearest, ties to even; a float too large for its type
/// becomes its largest finite value, as training's casts do. int8 from 128 to 255 is taken as an
/// unsigned byte.
void encode(std::byte* at, Dtype dtype, double value);

/// Fills `out` with the elements from `from` on. `is_unsigned` is for int8.
void decode(const std::byte* from, Dtype dtype, bool is_unsigned, std::span<double> out);

/// The value as it reads after it was written.
double rounded(double value, Dtype dtype);

/// Half the distance from 1 to the next number of a float type.
double unit_roundoff(Dtype dtype);

/// A value that depends on nothing but seed and index (SplitMix64's finalizer).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Close to a standard normal one: the sum of four uniform ones, scaled to variance 1; |x| < 3.5.
constexpr double random_normal(std::uint64_t seed, std::uint64_t index) {
  constexpr double kDeviation = 37837.227;  // of the sum of four 16-bit numbers
  constexpr double kMean = 2 * 65535.0;
  const std::uint64_t bits = random_bits(seed, index);
  const std::uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - kMean) / kDeviation;
}

}  // namespace bench

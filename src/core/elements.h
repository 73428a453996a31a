// Elements of all dtypes in memory, converted from and to f64, which represents them exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dtype.h"

namespace bench {

/// A float of 4 to 16 bits: sign, exponent, fraction.
struct SmallFloat {
  /// Meaning of the patterns with the highest exponent.
  enum class Specials {
    infinities,  // infinity and NaN, as in IEEE 754
    one_nan,     // e4m3: only the pattern of all ones is NaN
    none         // e2m1: every pattern is a number
  };
  int exponent_bits;
  int fraction_bits;
  Specials specials;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  /// Of finite numbers, biased.
  constexpr int highest_exponent() const {
    return (1 << exponent_bits) - (specials == Specials::infinities ? 2 : 1);
  }
  double largest() const;
};

inline constexpr SmallFloat kF16{5, 10, SmallFloat::Specials::infinities};
inline constexpr SmallFloat kE4m3{4, 3, SmallFloat::Specials::one_nan};
inline constexpr SmallFloat kE5m2{5, 2, SmallFloat::Specials::infinities};
inline constexpr SmallFloat kE2m1{2, 1, SmallFloat::Specials::none};

/// Rounds to nearest, ties to even; saturates. NaN becomes all ones, which is the largest number in
/// e2m1.
std::uint32_t to_bits(double value, const SmallFloat& type);
double from_bits(std::uint32_t bits, const SmallFloat& type);

/// Values of the first `count` patterns.
template <std::size_t count>
std::array<double, count> table(const SmallFloat& type) {
  std::array<double, count> values{};
  for (std::size_t bits = 0; bits < count; ++bits)
    values[bits] = from_bits(static_cast<std::uint32_t>(bits), type);
  return values;
}

/// Stores the value at `at`, rounded to nearest, ties to even; floats saturate, as in training.
/// int8 values from 128 to 255 are stored as unsigned bytes.
void encode(std::byte* at, Dtype dtype, double value);

/// Reads elements from `from` into `out`. `is_unsigned` applies to int8.
void decode(const std::byte* from, Dtype dtype, bool is_unsigned, std::span<double> out);

/// The value after storing and reading it.
double rounded(double value, Dtype dtype);

/// Half the distance from 1 to the next number; 0 for integers.
double unit_roundoff(Dtype dtype);

/// Pseudo-random bits that depend only on seed and index (SplitMix64 finalizer).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Approximately standard normal: the sum of four uniform numbers, scaled to variance 1; |x| < 3.5.
constexpr double random_normal(std::uint64_t seed, std::uint64_t index) {
  constexpr double kDeviation = 37837.227;  // of the sum of four 16-bit numbers
  constexpr double kMean = 2 * 65535.0;
  const std::uint64_t bits = random_bits(seed, index);
  const std::uint64_t sum =
      (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
  return (static_cast<double>(sum) - kMean) / kDeviation;
}

}  // namespace bench

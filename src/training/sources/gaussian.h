// Normal random numbers by Box-Muller, for sources whose law must be exactly normal: normal() of
// random.h is a sum of twelve numbers. Logarithm, sine and cosine are polynomials here, because
// those of C libraries differ in the last bit, and ranks compare checksums of their samples.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "training/sources/random.h"

namespace bench::training {

/// Of a normal number in (0, 1], to 2e-13.
constexpr double plain_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) m *= 0.5, ++exponent;
  // log m = 2 artanh s
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double sum = 0.0;
  for (int k = 15; k >= 1; k -= 2) sum = sum * z + 2.0 / k;
  return s * sum + 0.6931471805599453 * static_cast<double>(exponent);
}

/// Sine and cosine of a quarter of a turn times x, x in [0, 4), to 1e-12.
constexpr std::pair<double, double> plain_sine_cosine(double x) {
  const int quarter = static_cast<int>(x);
  const double a = (x - quarter - 0.5) * 1.5707963267948966, z = a * a;  // within an eighth of 0
  double sine = 0.0, cosine = 0.0;
  for (int k = 13; k >= 1; k -= 2) sine = 1.0 - sine * z / ((k + 1) * (k + 2));
  for (int k = 14; k >= 2; k -= 2) cosine = 1.0 - cosine * z / ((k - 1) * k);
  sine *= a;
  // Turned back by an eighth, then by whole quarters.
  constexpr double kHalf = 0.7071067811865476;
  const double s = kHalf * (sine + cosine), c = kHalf * (cosine - sine);
  switch (quarter & 3) {
    case 0:
      return {s, c};
    case 1:
      return {c, -s};
    case 2:
      return {-s, -c};
    default:
      return {-c, s};
  }
}

/// Two independent standard normal numbers; uses numbers 2 * index and 2 * index + 1 of the stream.
inline std::pair<double, double> gaussian_pair(RandomStream stream, std::uint64_t index) {
  const double radius = std::sqrt(-2.0 * plain_log(1.0 - uniform(stream.bits(2 * index))));
  const auto [sine, cosine] = plain_sine_cosine(4.0 * uniform(stream.bits(2 * index + 1)));
  return {radius * cosine, radius * sine};
}

}  // namespace bench::training

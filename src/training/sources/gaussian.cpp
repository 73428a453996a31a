#include "training/sources/gaussian.h"

#include <bit>
#include <cmath>
#include <cstddef>

namespace bench::training {
namespace {

/// The polynomial with these coefficients, highest power first.
template <std::size_t count>
double polynomial(const double (&coefficients)[count], double x) {
  double sum = 0.0;
  for (const double coefficient : coefficients) sum = sum * x + coefficient;
  return sum;
}

}  // namespace

double plain_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffff) | 0x3ff0000000000000);
  if (m > 1.4142135623730951) m *= 0.5, ++exponent;
  // log m = 2 artanh s
  constexpr double kArtanh[] = {2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9,
                                2.0 / 7,  2.0 / 5,  2.0 / 3,  2.0};
  const double s = (m - 1.0) / (m + 1.0);
  return s * polynomial(kArtanh, s * s) + 0.6931471805599453 * static_cast<double>(exponent);
}

std::pair<double, double> plain_sine_cosine(double x) {
  constexpr double kSine[] = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                              1.0 / 120,        -1.0 / 6,        1.0};
  constexpr double kCosine[] = {1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320, -1.0 / 720,
                                1.0 / 24,        -0.5,           1.0};
  const int quarter = static_cast<int>(x);
  const double a = (x - quarter - 0.5) * 1.5707963267948966;  // within an eighth of a turn of 0
  const double sine = a * polynomial(kSine, a * a), cosine = polynomial(kCosine, a * a);
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

std::pair<double, double> gaussian_pair(RandomStream stream, std::uint64_t index) {
  const double radius = std::sqrt(-2.0 * plain_log(1.0 - uniform(stream.bits(2 * index))));
  const auto [sine, cosine] = plain_sine_cosine(4.0 * uniform(stream.bits(2 * index + 1)));
  return {radius * cosine, radius * sine};
}

}  // namespace bench::training

#include "results/acceptance/poisson.h"

#include <cmath>
#include <limits>

namespace bench {
namespace {

constexpr int kMostTerms = 3'000'000;
constexpr double kEnough = 1e-16;

/// x^a e^-x / Gamma(a + 1)
double head(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a + 1.0)); }

/// P(a, x) by its series; for x < a + 1.
double lower_by_series(double a, double x) {
  double term = 1.0, sum = 1.0;
  for (int i = 1; i < kMostTerms && term > kEnough * sum; ++i) sum += term *= x / (a + i);
  return head(a, x) * sum;
}

/// 1 - P(a, x) by its continued fraction (Lentz); for x >= a + 1.
double upper_by_fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1.0 - a, c = 1.0 / kTiny, d = 1.0 / b, fraction = d;
  for (int i = 1; i < kMostTerms; ++i) {
    const double step = -i * (i - a);
    b += 2.0;
    d = step * d + b;
    c = b + step / c;
    if (std::abs(d) < kTiny) d = kTiny;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1.0 / d;
    fraction *= d * c;
    if (std::abs(d * c - 1.0) < kEnough) break;
  }
  return head(a, x) * a * fraction;
}

}  // namespace

double poisson_at_least(double count, double mean) {
  if (!(mean >= 0.0)) return std::numeric_limits<double>::quiet_NaN();
  if (!(count > 0.0)) return 1.0;
  if (mean == 0.0) return 0.0;
  return mean < count + 1.0 ? lower_by_series(count, mean) : 1.0 - upper_by_fraction(count, mean);
}

double poisson_upper(double count, double confidence) {
  double low = 0.0, high = count + 10.0;
  while (poisson_at_least(count + 1.0, high) < confidence) high *= 2.0;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (poisson_at_least(count + 1.0, middle) < confidence ? low : high) = middle;
  }
  return high;
}

}  // namespace bench

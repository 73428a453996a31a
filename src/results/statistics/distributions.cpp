#include "results/statistics/distributions.h"

#include <cmath>
#include <limits>

namespace bench {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSqrt2 = 1.41421356237309504880;

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz;
/// converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kEnough = 1e-16;
  constexpr int kMostTerms = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1.0) < kEnough) break;
  }
  return fraction;
}

/// The lower half of the normal quantile; Acklam's rational approximation, good to 1.2e-9.
double rough_lower_quantile(double p) {
  if (p < 0.02425) {
    const double q = std::sqrt(-2.0 * std::log(p));
    return (((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838) * q -
              2.549732539343734) *
                 q +
             4.374664141464968) *
                q +
            2.938163982698783) /
           ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996) * q +
             3.754408661907416) *
                q +
            1.0);
  }
  const double q = p - 0.5, r = q * q;
  return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
            1.383577518672690e+02) *
               r -
           3.066479806614716e+01) *
              r +
          2.506628277459239) *
         q /
         (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
            6.680131188771972e+01) *
               r -
           1.328068155288572e+01) *
              r +
          1.0);
}

}  // namespace

double normal_cdf(double x) { return 0.5 * std::erfc(-x / kSqrt2); }

double normal_quantile(double p) {
  if (p == 0.0) return -kInfinite;
  if (p == 1.0) return kInfinite;
  if (!(p > 0.0 && p < 1.0)) return kNotANumber;
  if (p > 0.5) return -normal_quantile(1.0 - p);
  const double x = rough_lower_quantile(p);
  // One step of Halley's method brings it to the precision of erfc.
  const double error = (normal_cdf(x) - p) * std::sqrt(2.0 * M_PI) * std::exp(0.5 * x * x);
  return x - error / (1.0 + 0.5 * x * error);
}

double incomplete_beta(double a, double b, double x) {
  if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0)) return kNotANumber;
  if (x == 0.0 || x == 1.0) return x;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
  return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double student_cdf(double t, double degrees) {
  if (std::isnan(t) || !(degrees > 0.0)) return kNotANumber;
  if (std::isinf(t)) return t > 0.0 ? 1.0 : 0.0;
  const double tail = 0.5 * incomplete_beta(0.5 * degrees, 0.5, degrees / (degrees + t * t));
  return t > 0.0 ? 1.0 - tail : tail;
}

double student_quantile(double p, double degrees) {
  if (!(p > 0.0 && p < 1.0 && degrees > 0.0)) return kNotANumber;
  if (p == 0.5) return 0.0;
  if (p > 0.5) return -student_quantile(1.0 - p, degrees);
  double low = -1.0, high = 0.0;
  while (student_cdf(low, degrees) > p && std::isfinite(low)) low *= 2.0;
  for (int i = 0; i < 200 && high - low > 1e-15 * -low; ++i) {
    const double middle = 0.5 * (low + high);
    (student_cdf(middle, degrees) < p ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace bench

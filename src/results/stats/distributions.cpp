#include "results/stats/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

namespace {

std::vector<double> cumulated(std::vector<double> mass) {
  std::partial_sum(mass.begin(), mass.end(), mass.begin());
  return mass;
}

int sum_of(std::span<const int> ranks) { return std::accumulate(ranks.begin(), ranks.end(), 0); }

}  // namespace

std::vector<double> mann_whitney_cdf(std::size_t n, std::size_t m) {
  // The generating function of U is the Gaussian binomial coefficient: the product over i of (1 -
  // q^(m + i)) / (1 - q^i), normalised to mass one at each step.
  std::vector<double> mass(n * m + 1, 0.0);
  mass[0] = 1.0;
  for (std::size_t i = 1; i <= n; ++i) {
    for (std::size_t u = n * m; u + 1 > m + i; --u) mass[u] -= mass[u - m - i];
    for (std::size_t u = i; u <= n * m; ++u) mass[u] += mass[u - i];
    const double scale = static_cast<double>(i) / static_cast<double>(m + i);
    for (double& one : mass) one *= scale;
  }
  return cumulated(std::move(mass));
}

std::vector<double> signed_rank_cdf(std::size_t n) {
  std::vector<int> ranks(n);
  std::iota(ranks.begin(), ranks.end(), 1);
  return cumulated(sum_of_halves(ranks));
}

std::vector<double> sum_of_chosen(std::span<const int> ranks, std::size_t chosen) {
  const auto sums = static_cast<std::size_t>(sum_of(ranks)) + 1;
  // mass[k][s]: probability that, of the ranks seen so far, k are chosen and sum to s.
  std::vector<std::vector<double>> mass(chosen + 1, std::vector<double>(sums, 0.0));
  mass[0][0] = 1.0;
  std::size_t seen = 0, most = 0;
  for (const int rank : ranks) {
    const auto add = static_cast<std::size_t>(rank);
    most += add;
    ++seen;
    const auto left = static_cast<double>(ranks.size() - seen + 1);
    for (std::size_t k = std::min(seen, chosen) + 1; k-- > 0;) {
      // Of the remaining ranks, chosen - k are still to be chosen.
      const double stay = 1.0 - static_cast<double>(chosen - k) / left;
      const double come = k == 0 ? 0.0 : static_cast<double>(chosen - k + 1) / left;
      for (std::size_t s = most + 1; s-- > 0;)
        mass[k][s] = stay * mass[k][s] + (k > 0 && s >= add ? come * mass[k - 1][s - add] : 0.0);
    }
  }
  return mass[chosen];
}

std::vector<double> sum_of_halves(std::span<const int> ranks) {
  std::vector<double> mass(static_cast<std::size_t>(sum_of(ranks)) + 1, 0.0);
  mass[0] = 1.0;
  std::size_t most = 0;
  for (const int rank : ranks) {
    const auto add = static_cast<std::size_t>(rank);
    most += add;
    for (std::size_t s = most + 1; s-- > 0;)
      mass[s] = 0.5 * (mass[s] + (s >= add ? mass[s - add] : 0.0));
  }
  return mass;
}

std::vector<int> doubled_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<int> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<int>(begin + end + 1);
  }
  return ranks;
}

double tie_term(std::vector<int> ranks) {
  std::ranges::sort(ranks);
  double sum = 0.0;
  for (auto begin = ranks.begin(); begin != ranks.end();) {
    const auto end = std::upper_bound(begin, ranks.end(), *begin);
    const auto t = static_cast<double>(end - begin);
    sum += t * t * t - t;
    begin = end;
  }
  return sum;
}

namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kSqrt2 = 1.41421356237309504880;

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz;
/// converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kNegligible = 1e-16;
  constexpr int kMaxTerms = 100'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), fraction = d;
  for (int m = 1; m < kMaxTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1.0) < kNegligible) break;
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

#include "results/stats/means.h"

#include <cmath>
#include <limits>

#include "results/stats/distributions.h"

namespace bench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kUpper95 = 0.975;

/// The squared standard error of a mean.
double square_error(std::span<const double> values) {
  const double deviation = standard_deviation(values);
  return deviation * deviation / static_cast<double>(values.size());
}

double welch_satterthwaite(double a, std::size_t n, double b, std::size_t m) {
  return (a + b) * (a + b) /
         (a * a / static_cast<double>(n - 1) + b * b / static_cast<double>(m - 1));
}

}  // namespace

WelchTest welch(std::span<const double> a, std::span<const double> b) {
  WelchTest test{
      .t = kNone, .p = kNone, .difference = mean(b) - mean(a), .interval = {kNone, kNone}};
  if (a.size() < 2 || b.size() < 2) return test;
  const double of_a = square_error(a), of_b = square_error(b);
  const double error = std::sqrt(of_a + of_b);
  if (!(error > 0.0)) return test;
  test.t = -test.difference / error;
  test.degrees = welch_satterthwaite(of_a, a.size(), of_b, b.size());
  test.p = 2.0 * student_cdf(-std::abs(test.t), test.degrees);
  const double half = student_quantile(kUpper95, test.degrees) * error;
  test.interval = {test.difference - half, test.difference + half};
  return test;
}

}  // namespace bench

#include "results/stats/means.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "results/stats/distributions.h"
#include "results/stats/peers.h"

namespace bench {
namespace {

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
  WelchTest test{.t = kNoValue,
                 .p = kNoValue,
                 .difference = mean(b) - mean(a),
                 .interval = {kNoValue, kNoValue}};
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

namespace {

/// Welch's degrees of freedom, rounded down: the table has whole ones.
std::size_t welch_degrees(const LogMean& a, const LogMean& b) {
  if (!(a.square_error + b.square_error > 0.0)) return 1;
  const double degrees = welch_satterthwaite(a.square_error, a.n, b.square_error, b.n);
  return std::max<std::size_t>(1, static_cast<std::size_t>(degrees));
}

Ratio around(double log, double half) {
  return {std::exp(log), std::exp(log - half), std::exp(log + half)};
}

}  // namespace

LogMean log_mean(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values)
    if (value > 0.0 && std::isfinite(value)) logs.push_back(std::log(value));
  return {logs.size(), mean(logs), square_error(logs)};
}

Ratio ratio_of(const LogMean& here, const LogMean& base) {
  const double log = here.mean - base.mean;
  if (here.n < 2 || base.n < 2) return {std::exp(log), kNoValue, kNoValue};
  return around(log, student_95(welch_degrees(base, here)) *
                         std::sqrt(base.square_error + here.square_error));
}

Ratio operator/(const Ratio& ratio, double divisor) {
  return {ratio.value / divisor, ratio.low / divisor, ratio.high / divisor};
}

Ratio geometric_mean(const LogMean& values) {
  if (values.n < 2) return {std::exp(values.mean), kNoValue, kNoValue};
  return around(values.mean, student_95(values.n - 1) * std::sqrt(values.square_error));
}

double karp_flatt(double speed_up, double n) {
  return n > 1.0 ? (1.0 / speed_up - 1.0 / n) / (1.0 - 1.0 / n) : kNoValue;
}

double gustafson_serial(std::span<const double> n, std::span<const double> speed_up) {
  double product = 0.0, square = 0.0;
  for (std::size_t i = 0; i < n.size() && i < speed_up.size(); ++i) {
    product += (speed_up[i] - 1.0) * (n[i] - 1.0);
    square += (n[i] - 1.0) * (n[i] - 1.0);
  }
  return square > 0.0 ? 1.0 - product / square : kNoValue;
}

}  // namespace bench

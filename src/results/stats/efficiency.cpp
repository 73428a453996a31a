#include "results/stats/efficiency.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/peers.h"

namespace bench {
namespace {

/// Welch's degrees of freedom, rounded down: the table has whole ones.
std::size_t welch_degrees(const LogMean& a, const LogMean& b) {
  const double sum = a.square_error + b.square_error;
  if (!(sum > 0.0)) return 1;
  const auto part = [](const LogMean& one) {
    return one.square_error * one.square_error / (static_cast<double>(one.n) - 1.0);
  };
  return std::max<std::size_t>(1, static_cast<std::size_t>(sum * sum / (part(a) + part(b))));
}

Ratio around(double log, double half) {
  return {std::exp(log), std::exp(log - half), std::exp(log + half)};
}

}  // namespace

LogMean log_mean(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values)
    if (value > 0.0 && std::isfinite(value)) logs.push_back(std::log(value));
  LogMean found{logs.size(), mean(logs), kNoValue};
  const double deviation = standard_deviation(logs);
  found.square_error = deviation * deviation / static_cast<double>(logs.size());
  return found;
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

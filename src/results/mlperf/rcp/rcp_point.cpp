#include "results/mlperf/rcp/rcp_point.h"

#include <cmath>

#include "core/order_statistics.h"
#include "results/statistics/distributions.h"
#include "results/training/olympic_mean.h"

namespace bench::mlperf {
namespace {

constexpr double kAlpha = 0.05;
constexpr std::int64_t kDropped = 2;  // lowest and highest
// The official checker bisects [0, mean] down to this width and takes the midpoint.
constexpr double kTolerance = 1e-4;

double population_deviation(std::span<const double> values) {
  const double centre = mean(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

/// The midpoint at which the official checker's search ends. It determines the verdict and differs
/// from the exact value by up to half the tolerance, which matters for small epoch counts.
double searched(double exact, double mean) {
  double low = 0.0, high = mean, middle = mean / 2.0;
  // Also stop if adjacent doubles are further apart.
  while (high - low > kTolerance && low < middle && middle < high) {
    (middle > exact ? high : low) = middle;
    middle = (low + high) / 2.0;
  }
  return middle;
}

double standard_error(double stdev, double counted, std::int64_t runs) {
  return stdev * std::sqrt(1.0 / counted + 1.0 / static_cast<double>(runs - kDropped));
}

double degrees(double counted, std::int64_t runs) {
  return counted + static_cast<double>(runs - kDropped) - 2.0;
}

}  // namespace

double exact_minimum(double mean, double stdev, double counted, std::int64_t runs) {
  if (stdev == 0.0) return mean;
  return mean +
         student_quantile(kAlpha, degrees(counted, runs)) * standard_error(stdev, counted, runs);
}

void set_minimum(RcpPoint& point, std::int64_t runs, double counted) {
  point.counted = counted;
  const double exact = exact_minimum(point.mean, point.stdev, counted, runs);
  point.minimum = point.stdev == 0.0 ? point.mean : searched(exact, point.mean);
  point.max_speedup = point.mean / point.minimum;
}

RcpPoint summarise(std::string name, double batch, std::span<const double> values,
                   std::int64_t runs) {
  RcpPoint point{.name = std::move(name), .batch = batch};
  point.n = static_cast<std::int64_t>(values.size());
  point.mean = olympic_mean(values).mean;
  point.stdev = population_deviation(values);
  set_minimum(point, runs, static_cast<double>(point.n - kDropped));
  return point;
}

double p_of_faster(const RcpPoint& point, std::int64_t runs, double submission_mean) {
  const double error = standard_error(point.stdev, point.counted, runs);
  if (!(error > 0.0)) return kNoValue;
  return student_cdf((submission_mean - point.mean) / error, degrees(point.counted, runs));
}

}  // namespace bench::mlperf

#include "mlperf/rcp/rcp_set.h"

#include <algorithm>
#include <cmath>

#include "core/names.h"
#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/olympic_mean.h"

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

namespace {

constexpr NameTable<RcpMatch, 5> kMatches{{{{RcpMatch::exact, "exact"},
                                            {RcpMatch::interpolated, "interpolated"},
                                            {RcpMatch::below, "below"},
                                            {RcpMatch::missing, "missing"},
                                            {RcpMatch::none, "none"}}}};

using Points = std::vector<const RcpPoint*>;

double on_line(double x, double x0, double y0, double x1, double y1) {
  return x == x1 ? y1 : (y1 - y0) / (x1 - x0) * (x - x0) + y0;
}

double mean_between(double batch, const RcpPoint& low, const RcpPoint& high) {
  return on_line(batch, low.batch, low.mean, high.batch, high.mean);
}

/// The fastest point and all with at least its batch.
Points from_fastest(const RcpSet& set) {
  const auto fastest = std::ranges::min_element(set.points, {}, &RcpPoint::mean);
  Points walk;
  for (const RcpPoint& point : set.points)
    if (point.batch >= fastest->batch) walk.push_back(&point);
  return walk;
}

void drop_slower_than_neighbours(Points& walk) {
  for (std::size_t i = 1; i + 1 < walk.size();) {
    if (walk[i]->mean > mean_between(walk[i]->batch, *walk[i - 1], *walk[i + 1]))
      walk.erase(walk.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
}

RcpPoint interpolated(const RcpSet& set, double batch, const RcpPoint& low, const RcpPoint& high) {
  RcpPoint point{.name = low.name + " to " + high.name, .batch = batch};
  point.mean = mean_between(batch, low, high);
  point.stdev = on_line(batch, low.batch, low.stdev, high.batch, high.stdev);
  set_minimum(point, set.runs, 2.0 * static_cast<double>(set.runs));
  return point;
}

}  // namespace

std::string_view to_string(RcpMatch match) { return kMatches.name(match); }

void prune(RcpSet& set) {
  if (set.points.empty()) return;
  Points walk = from_fastest(set);
  drop_slower_than_neighbours(walk);
  std::vector<double> batches;
  for (const RcpPoint* point : walk) batches.push_back(point->batch);
  // By batch: points with the same batch are kept or pruned together.
  for (RcpPoint& point : set.points)
    point.kept = std::ranges::find(batches, point.batch) != batches.end();
}

RcpReference reference_at(const RcpSet& set, double batch) {
  const RcpPoint *low = nullptr, *high = nullptr;
  for (const RcpPoint& point : set.points) {
    if (!point.kept) continue;
    if (point.batch == batch) return {RcpMatch::exact, point};
    if (point.batch < batch) low = &point;
    if (point.batch > batch && high == nullptr) high = &point;
  }
  if (low != nullptr && high != nullptr)
    return {RcpMatch::interpolated, interpolated(set, batch, *low, *high)};
  if (high != nullptr) return {RcpMatch::below, *high};
  return {low != nullptr ? RcpMatch::missing : RcpMatch::none, {}};
}

}  // namespace bench::mlperf

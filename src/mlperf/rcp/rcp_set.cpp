#include "mlperf/rcp/rcp_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fields.h"
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

namespace {

constexpr std::size_t kMinRuns = 3;

/// Sets the mean, or returns why there is none.
std::string set_mean(RcpTest& test, std::span<const double> converged) {
  const OlympicMean mean = olympic_mean(converged);
  if (mean.without > 1)
    return fmt::format("{} of {} runs did not converge, at most one is allowed", mean.without,
                       mean.runs);
  if (mean.runs < kMinRuns)
    return fmt::format("the convergence test needs at least {} runs, found {}", kMinRuns,
                       mean.runs);
  test.mean = mean.mean;
  return "";
}

std::string rcp_reference_text(const RcpTest& test) {
  const double batch = test.reference.point->batch;
  switch (test.reference.match) {
    case RcpMatch::interpolated:
      return fmt::format("the reference interpolated to batch {:g}", batch);
    case RcpMatch::below:
      return fmt::format("the reference at batch {:g}, its smallest", batch);
    default:
      return fmt::format("the reference at batch {:g}", batch);
  }
}

std::string rcp_verdict_text(const RcpTest& test) {
  const RcpPoint& point = *test.reference.point;
  const std::string reference = rcp_reference_text(test);
  if (!test.pass)
    return fmt::format(
        "{:.10g} {} to the target is below the minimum of {:.10g} for {} (mean "
        "{:.10g}): the mean must be {:.10g} higher{}",
        test.mean, test.unit, test.limit, reference, point.mean, test.limit - test.mean,
        test.reference.match == RcpMatch::below ? ", or add reference points for this batch" : "");
  if (test.mean < point.mean)
    return fmt::format(
        "{:.10g} {} to the target passes for {} (minimum {:.10g}) but is faster "
        "than its mean of {:.10g}: the score is scaled by {:.6f}",
        test.mean, test.unit, reference, test.limit, point.mean, test.factor);
  return fmt::format("{:.10g} {} to the target is not faster than {} (mean {:.10g})", test.mean,
                     test.unit, reference, point.mean);
}

void judge(RcpTest& test, const RcpSet& set) {
  const RcpPoint& point = *test.reference.point;
  // The same order of rounding as in the official checker.
  const double speedup =
      set.allowance > 0.0 ? point.mean / (point.minimum - set.allowance) : point.max_speedup;
  test.limit = point.mean / speedup;
  test.allowance = set.allowance;
  test.pass = test.mean >= test.limit;
  test.p = p_of_faster(point, set.runs, test.mean);
  if (test.pass && test.mean < point.mean) test.factor = point.mean / test.mean;
  test.why = rcp_verdict_text(test);
}

}  // namespace

RcpTest rcp_test(const RcpSet& set, double batch, std::span<const double> converged) {
  RcpTest test{.batch = batch, .unit = set.unit};
  test.why = set_mean(test, converged);
  if (!std::isfinite(batch)) {
    test.why = "the runs do not have a common global_batch_size";
    return test;
  }
  test.reference = reference_at(set, batch);
  if (test.reference.match == RcpMatch::missing)
    test.why = fmt::format(
        "batch {:g} is larger than that of any reference point: add reference "
        "points for this batch",
        batch);
  if (test.reference.match == RcpMatch::none) test.why = "no reference point for " + set.benchmark;
  if (test.why.empty()) judge(test, set);
  return test;
}

double margin(const RcpTest& test) { return test.mean / test.limit - 1.0; }

Json to_json(const RcpTest& test) {
  const RcpPoint point = test.reference.point.value_or(
      RcpPoint{.batch = kNoValue, .mean = kNoValue, .stdev = kNoValue});
  return {{"match", to_string(test.reference.match)},
          {"pass", test.pass},
          {"batch", number_or_null(test.batch)},
          {"submission_mean", number_or_null(test.mean)},
          {"rcp_name", text_or_null(point.name)},
          {"rcp_batch", number_or_null(point.batch)},
          {"rcp_mean", number_or_null(point.mean)},
          {"rcp_stdev", number_or_null(point.stdev)},
          {"minimum", number_or_null(point.minimum)},
          {"allowance", test.allowance},
          {"limit", number_or_null(test.limit)},
          {"margin", number_or_null(margin(test))},
          {"max_speedup", number_or_null(point.mean / test.limit)},
          {"factor", test.factor},
          {"p", number_or_null(test.p)},
          {"unit", test.unit},
          {"text", test.why}};
}

}  // namespace bench::mlperf

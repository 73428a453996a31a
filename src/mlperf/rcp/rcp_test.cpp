#include "mlperf/rcp/rcp_test.h"

#include <fmt/format.h>

#include <cmath>

#include "results/stats/olympic_mean.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kMinRuns = 3;

Json number_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

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

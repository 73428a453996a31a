// The reference convergence points of one benchmark in one round, their pruning, and the test of a
// submission against them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/json_fields.h"

namespace bench::mlperf {

// A reference convergence point (RCP): samples or epochs to the target of n reference trainings at
// one batch size, and the smallest mean that passes for a submission (MLPerf training rules,
// "Reference Convergence Points").

/// Means, deviations and minima are in samples or epochs, depending on the benchmark.
struct RcpPoint {
  std::string name = {};
  double batch = 0.0;  // global
  std::int64_t n = 0;  // number of reference trainings
  double mean = 0.0;   // without the lowest and the highest
  double stdev = 0.0;  // population deviation of all n, as in the official checker
  double counted =
      0.0;  // n of the t-test: n - 2, or twice the required runs of an interpolated one
  double minimum = kNoValue;      // the smallest mean that passes
  double max_speedup = kNoValue;  // mean / minimum
  bool kept = true;               // not pruned
};

/// `values`: one per training of the reference, at least three. `runs`: runs of a submission.
RcpPoint summarise(std::string name, double batch, std::span<const double> values,
                   std::int64_t runs);

/// Sets counted, minimum and max_speedup from the other members.
void set_minimum(RcpPoint& point, std::int64_t runs, double counted);

/// The mean at which a one-sided Student test of two means with a common deviation, from `counted`
/// and from runs - 2 values, has p = 0.05:
///   mean - t(0.95, counted + runs - 4) * stdev * sqrt(1 / counted + 1 / (runs - 2)).
double exact_minimum(double mean, double stdev, double counted, std::int64_t runs);

/// p of that test for a submission's mean; small if significantly faster. NaN for stdev 0.
double p_of_faster(const RcpPoint& point, std::int64_t runs, double submission_mean);

struct RcpSet {
  std::string ruleset = {}, benchmark = {};
  std::int64_t runs = 0;             // required of a submission
  std::string unit = {};             // "samples" or "epochs": the unit of means
  double allowance = 0.0;            // how far below the minimum a submission may be
  std::string allowance_where = {};  // section of the rules
  std::string source = {};
  std::vector<RcpPoint> points = {};  // by ascending batch
};

/// Marks the points that do not count: those with a smaller batch than the fastest one, and those
/// slower than the line between their neighbours. As in the official checker, the left neighbour of
/// a removed point is not checked again, so the result need not be convex.
void prune(RcpSet& set);

enum class RcpMatch { exact, interpolated, below, missing, none };
/// "exact", "interpolated", "below" (below all batches: the smallest is used), "missing" (above all
/// batches), "none" (no points).
std::string_view to_string(RcpMatch match);

/// The reference for a batch.
struct RcpReference {
  RcpMatch match = RcpMatch::none;
  std::optional<RcpPoint> point = {};  // none for `missing` and `none`
};

/// Uses the kept points. Between two points, mean and deviation are interpolated, and the minimum
/// is that of 2 * runs values.
RcpReference reference_at(const RcpSet& set, double batch);

// The convergence test of a submission against the reference, and its scaling factor (MLPerf
// training rules, "Reference Convergence Points").

struct RcpTest {
  RcpReference reference = {};
  double batch = kNoValue;  // of the submission
  double mean = kNoValue;   // olympic mean of samples or epochs to the target
  double allowance = 0.0;   // subtracted from the minimum
  double limit = kNoValue;  // the smallest mean that passes
  double p = kNoValue;      // p of the mean if it converges like the reference
  bool pass = false;
  /// Multiplies the score: reference mean / mean if the submission passes and is faster than the
  /// reference, else 1.
  double factor = 1.0;
  std::string why = {};   // one sentence: the comparison and the verdict
  std::string unit = {};  // of mean, limit and allowance
};

/// `converged`: one per run, infinity if not converged. Fails for more than one of these, for fewer
/// than three runs, and for an unknown batch (NaN).
RcpTest rcp_test(const RcpSet& set, double batch, std::span<const double> converged);

/// Keys: match, pass, batch, submission_mean, rcp_batch, rcp_mean, rcp_stdev, minimum, allowance,
/// limit, margin, max_speedup, factor, p, unit, text; null where there is none.
Json to_json(const RcpTest& test);

/// Relative margin of the mean: 0.02 for 2 % above the smallest mean that passes.
double margin(const RcpTest& test);

}  // namespace bench::mlperf

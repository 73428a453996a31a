// The convergence test of a submission against the reference, and its scaling factor (MLPerf
// training rules, "Reference Convergence Points").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "mlperf/rcp/rcp_set.h"

namespace bench::mlperf {

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

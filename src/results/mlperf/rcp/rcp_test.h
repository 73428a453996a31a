// Whether a submission converged as the reference does, and by what its score is scaled (MLPerf
// training rules, "Reference Convergence Points").
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/mlperf/rcp/rcp_set.h"

namespace bench::mlperf {

struct RcpTest {
  RcpReference reference = {};
  double batch = kNoValue;  // of the submission
  double mean = kNoValue;   // its samples or epochs to the target, olympic
  double allowance = 0.0;   // taken from the minimum
  double limit = kNoValue;  // the smallest mean that passes
  double p = kNoValue;      // of a mean as fast as this, if it converges as the reference does
  bool pass = false;
  /// The score is multiplied with it: reference mean / mean where the submission passes and is
  /// faster than the reference, else 1.
  double factor = 1.0;
  std::string why = {};   // one sentence: what was compared, and the verdict
  std::string unit = {};  // of mean, limit and allowance
};

/// `converged`: one a run, infinity for one that did not converge; more than one of these fail, and
/// so do fewer than three runs. NaN for a batch that is not known fails.
RcpTest rcp_test(const RcpSet& set, double batch, std::span<const double> converged);

/// Keys: match, pass, batch, submission_mean, rcp_batch, rcp_mean, rcp_stdev, minimum, allowance,
/// limit, margin, max_speedup, factor, p, unit, text; null where there is none.
Json to_json(const RcpTest& test);

/// limit as a share of mean beyond it: 0.02 for a mean 2 % above the smallest that passes.
double margin(const RcpTest& test);

}  // namespace bench::mlperf

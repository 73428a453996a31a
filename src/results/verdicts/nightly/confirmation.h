// Judges a suspicion by immediate reruns on the host and on a peer.
#pragma once

#include <span>
#include <vector>

#include "results/verdicts/nightly/finding.h"

namespace bench {

/// One run value of a rerun.
struct Rerun {
  double value = kNoValue;  // kNoValue: failed or invalid
  bool clean = true;        // false: disturbed by other work
};

struct Evidence {
  std::vector<double> history;  // run values before the night, newest last
  std::vector<Rerun> host;      // without the suspicious value, which was selected for being low
  std::vector<double> peer_history;
  std::vector<Rerun> peer;
};

struct ConfirmationRule {
  double threshold = 0.01;  // tolerance, a share
  double level = 0.01;      // of the test of the reruns
  double floor = 0.0005;    // minimum scatter, a share
};

/// Tests whether the mean of k new values fits a series: T = (mean - m) / (s sqrt(1/k + 1/n)) on
/// logarithms, n - 1 degrees of freedom; with k = 1 the prediction test. Returns the chance of a
/// mean this bad (Better::none: this far away). kNoValue with fewer than two past values or no new
/// one.
double chance_of(std::span<const double> history, std::span<const double> values, Better better,
                 double floor);

/// For `slower`. Confirmed: the median of the reruns loses the threshold and the chance is below
/// the level. Dropped: it loses less. Else unsettled, also with fewer than two clean reruns. The
/// text mentions a peer that lost as much.
void judge_slower(NightFinding& finding, const Evidence& evidence, const ConfirmationRule& rule);

/// For `failed`: confirmed if any rerun failed, dropped if none of at least two did. `ran`:
/// conclusive reruns; `failed`: those that failed. A wrong result is always confirmed: correct
/// reruns do not clear it.
void judge_failed(NightFinding& finding, std::size_t ran, std::size_t failed,
                  std::size_t peer_failed);

}  // namespace bench

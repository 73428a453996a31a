// Judges a suspicion by what was run again at once: on the host, and on a peer beside it.
#pragma once

#include <span>
#include <vector>

#include "results/nightly/finding.h"

namespace bench {

/// One run value of a re-run.
struct Rerun {
  double value = kNoValue;  // kNoValue: it failed, or what it gave cannot be believed
  bool clean = true;        // else other work ran beside it
};

struct Evidence {
  std::vector<double> history;  // run values of the host before the night, the newest last
  std::vector<Rerun> host;      // not the suspicion itself: it was picked because it is low
  std::vector<double> peer_history;
  std::vector<Rerun> peer;
};

struct ConfirmationRule {
  double threshold = 0.01;  // the loss that matters, as a share
  double level = 0.01;      // of the test of the re-runs
  double floor = 0.0005;    // the least scatter that is believed, as a share
};

/// Is a mean of k new values one of a series? T = (mean - m) / (s sqrt(1/k + 1/n)) on logarithms,
/// n - 1 degrees of freedom; with k = 1 the prediction test. The chance of a mean so bad or worse
/// (Better::none: so far away). kNoValue with fewer than two values of history, or none new.
double chance_of(std::span<const double> history, std::span<const double> values, Better better,
                 double floor);

/// Of a suspicion that says `slower`. Confirmed: the median of the re-runs loses the threshold and
/// chance is below the level. Dropped: it loses less. Else unsettled, and so it is with fewer than
/// two clean re-runs. Where the peer lost as much, the text says that the host is not alone.
void judge_slower(NightFinding& finding, const Evidence& evidence, const ConfirmationRule& rule);

/// Of one that says `failed`: confirmed when any re-run failed too, dropped when none of at least
/// two did. `ran`: those that were made and could speak; `failed`: those of them that failed. A
/// result that is wrong is confirmed in any case: right ones do not take it back.
void judge_failed(NightFinding& finding, std::size_t ran, std::size_t failed,
                  std::size_t peer_failed);

}  // namespace bench

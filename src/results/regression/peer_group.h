// All series of one metric at one set of parameters: each is judged against its own history after
// what all of them share was taken out, and what they share is judged as the fleet's.
#pragma once

#include <vector>

#include "results/regression/candidate.h"

namespace bench {

/// So many series share a movement; fewer are judged each by itself.
inline constexpr std::size_t kFewestMembers = 8;

/// Members have one metric, params, unit, ranks and kind of device.
void judge(const std::vector<Member>& members, const RegressionOptions& options, Tally& tally);

/// The same members on their axes, cut into levels, with what they say of their noise; for
/// calibration. Exact metrics and series too short are left out.
struct SettledGroup {
  std::vector<LevelHistory> histories;
  std::vector<Thresholds> thresholds;  // of each
  NoisePrior prior;
};
SettledGroup settled(const std::vector<Member>& members, const RegressionOptions& options);

}  // namespace bench

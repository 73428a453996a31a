// All series of one metric and parameter set: each is judged against its own history after
// subtracting the common movement, and the common movement is judged as the fleet's.
#pragma once

#include <vector>

#include "results/regression/candidate.h"

namespace bench {

/// Minimum number of series for a common movement; fewer are judged separately.
inline constexpr std::size_t kFewestMembers = 8;

/// Members have one metric, params, unit, ranks and kind of device.
void judge(const std::vector<Member>& members, const RegressionOptions& options, Tally& tally);

/// The same members on their axes, split into levels, with their noise; for calibration. Excludes
/// exact metrics and short series.
struct SettledGroup {
  std::vector<LevelHistory> histories;
  std::vector<Thresholds> thresholds;  // of each
  NoisePrior prior;
};
SettledGroup settled(const std::vector<Member>& members, const RegressionOptions& options);

}  // namespace bench

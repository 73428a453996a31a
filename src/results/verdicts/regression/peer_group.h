// All series of one metric and parameter set: each is judged against its own history after
// subtracting the common movement, and the common movement is judged as the fleet's.
#pragma once

#include <functional>
#include <vector>

#include "results/verdicts/regression/candidate.h"

namespace bench {

// The common movement of all series of a kind, as a series.

struct SharedSeries {
  Member member;             // a value a night, without a host, at the level of the median host
  std::vector<double> axis;  // the same on the axis of the first series
};

/// `series` after subtracting `movement`, which has one value per night.
SharedSeries shared_series(const std::vector<Judged>& series, const Nights& nights,
                           const std::vector<double>& movement);

// Histories, put together into groups of peers.

/// Visits the series of each metric, params, unit, number of ranks and kind of device, one group in
/// memory at a time, over all hosts regardless of the selection. Throws Error as Histories does.
void each_group(const Histories& histories, const RegressionOptions& options,
                const std::function<void(const std::vector<Member>&)>& take);

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

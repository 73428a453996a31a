// Plots of a fleet.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/fleet/fleet_report.h"
#include "results/plots/plot.h"

namespace bench {

inline constexpr std::size_t kMostMapColumns = 40;

/// The series by their worst member, worst first: indices in report.series.
std::vector<std::size_t> worst_series(const FleetReport& report);
/// Hosts and devices by the first series of `order`, in practical thresholds.
HeatMap fleet_map(const FleetReport& report, const std::vector<std::size_t>& order);
/// Cumulative distribution of the members of one series.
std::string fleet_distribution(const FleetReport& report, std::size_t series);

}  // namespace bench

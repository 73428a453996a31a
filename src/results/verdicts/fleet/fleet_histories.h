// Values and faults of a fleet from the database.
#pragma once

#include <functional>
#include <vector>

#include "results/store/history.h"
#include "results/verdicts/fleet/fleet_report.h"

namespace bench {

/// Visits single-host series, metric by metric; devices of one type together.
void for_each_fleet_series(const Histories& histories, const Selection& selection,
                           const std::function<void(FleetSeries)>& take);

/// Single-host jobs that failed, timed out or were invalid since then, in runs that count; not
/// interrupted or unstarted ones.
std::vector<FleetFault> fleet_faults(const Store& store, std::int64_t since_ns);

}  // namespace bench

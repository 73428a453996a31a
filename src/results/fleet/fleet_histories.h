// Values and faults of a fleet from the database.
#pragma once

#include <functional>
#include <vector>

#include "results/fleet/fleet_report.h"
#include "results/history/history.h"

namespace bench {

/// Visits single-host series, metric by metric; devices of one type together.
void for_each_fleet_series(const Histories& histories, const Selection& selection,
                           const std::function<void(FleetSeries)>& take);

/// Single-host jobs that failed, timed out or were invalid since then, in runs that count; not
/// interrupted or unstarted ones.
std::vector<FleetFault> fleet_faults(const Store& store, std::int64_t since_ns);

/// What hosts must share to be compared: product, CPU, threads, memory, GPUs, from the
/// configuration of a value. "" if unknown.
std::string kind_of_host(const Json& configuration);

}  // namespace bench

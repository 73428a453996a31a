// The fleet's values and faults as the database has them.
#pragma once

#include <functional>
#include <vector>

#include "results/fleet/fleet_report.h"
#include "results/history/history.h"

namespace bench {

/// Series whose value one host made alone, metric by metric; devices of one sort together.
void for_each_fleet_series(const Histories& histories, const Selection& selection,
                       const std::function<void(FleetSeries)>& take);

/// Jobs of one host that failed, timed out or were invalid since then, of runs that count; a host
/// that was interrupted or never asked is none.
std::vector<FleetFault> fleet_faults(const Store& store, std::int64_t since_ns);

/// What hosts have to be equal in to be compared: product, CPU, threads, memory, GPUs, as the
/// configuration of a value tells them. "" where it tells none.
std::string kind_of_host(const Json& configuration);

}  // namespace bench

// Members of one kind in one series, compared with each other and with their criterion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/verdicts/fleet/fleet_report.h"
#include "results/verdicts/peers/compared.h"

namespace bench {

/// Share of the level; peers and repeatability have the rest.
inline constexpr double kGoldenShare = 1.0 - kPeersShare - kRepeatabilityShare;

inline constexpr double kDayNs = 86400e9;
std::int64_t day_of(std::int64_t time_ns);

struct FleetGroup {
  std::size_t series = 0;
  FleetSeriesReport about;
  std::vector<FleetMember> members;  // with their newest values only
  Compared peers;                    // members with valid values, in the order of `placed`
  std::vector<std::size_t> placed;   // index in members
  const Criterion* criterion = nullptr;
  double peers_level = 0.0;      // false-alarm probability of the peer test
  std::size_t golden_tests = 1;  // in the whole report, which share one level
};

/// Given `group.members`, fills in everything except the results of find_chances().
void compare(FleetGroup& group, const FleetSettings& settings);

/// Rows of all members, after find_chances().
std::vector<FleetRow> judge(const FleetGroup& group, const FleetSettings& settings);

/// Days on which a host was significantly worse than its peers of that day, by host.
using Incidents = std::map<std::string, std::set<std::int64_t>>;
void add_incidents(const std::vector<FleetMember>& members, Better better, double threshold,
                   const FleetSettings& settings, Incidents& incidents);

/// For every host with a row, a fault or an incident; worst first, then by name.
std::vector<FleetHostReport> host_reports(const std::vector<FleetGroup>& groups,
                                          const std::vector<FleetRow>& rows,
                                          const FleetSettings& settings,
                                          const Incidents& incidents);

/// Sets repeat_failures and repeat_p: incidents on at least three days, and so many that the chance
/// of any such host at the rate of the others is at most 1 % (Poisson).
void find_repeat_failures(std::vector<FleetHostReport>& hosts);

}  // namespace bench

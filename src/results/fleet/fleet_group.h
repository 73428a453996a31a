// Members of one kind in one series, judged against each other and against their criterion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/acceptance/compared.h"
#include "results/acceptance/hearing.h"
#include "results/fleet/fleet_report.h"

namespace bench {

/// Of the level; peers and repeatability have the rest.
inline constexpr double kGoldenShare = 1.0 - kPeersShare - kRepeatabilityShare;

inline constexpr double kDayNs = 86400e9;
std::int64_t day_of(std::int64_t time_ns);

struct FleetGroup {
  std::size_t series = 0;
  FleetSeriesReport about;
  std::vector<FleetMember> members;  // their newest values alone
  Compared peers;                    // of those with valid values, in the order of `placed`
  std::vector<std::size_t> placed;   // index in members
  const Criterion* criterion = nullptr;
  double peers_level = 0.0;      // the chance that the peers accuse anybody of a healthy fleet
  std::size_t golden_tests = 1;  // of the whole report: the level is theirs together
};

/// `group.members` are set; fills in the rest but for what find_chances() does.
void compare(FleetGroup& group, const FleetSettings& settings);

/// Rows of all members, after find_chances().
std::vector<FleetRow> judge(const FleetGroup& group, const FleetSettings& settings);

/// Days on which a host lay beyond chance and threshold below its peers of that day, by host.
using Incidents = std::map<std::string, std::set<std::int64_t>>;
void add_incidents(const std::vector<FleetMember>& members, Better better, double threshold,
                   const FleetSettings& settings, Incidents& incidents);

/// Of every host that has a row, a fault or an incident; the worst first, then by name.
std::vector<FleetHostReport> host_reports(const std::vector<FleetGroup>& groups,
                                          const std::vector<FleetRow>& rows,
                                          const FleetSettings& settings,
                                          const Incidents& incidents);

/// lemon, lemon_p of each host by its incidents: at least three days, and so many that among hosts
/// with the others' rate the chance of any such one is at most 1 % (Poisson).
void find_repeat_failures(std::vector<FleetHostReport>& hosts);

}  // namespace bench

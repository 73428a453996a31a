// Hosts with repeat failures.
#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/acceptance/peers.h"
#include "results/acceptance/poisson.h"
#include "results/fleet/fleet_group.h"

namespace bench {
namespace {

/// For one day and metric: stricter than the level of a verdict, as there are many.
constexpr double kIncidentLevel = 1e-4;
constexpr double kLeastSigma = 1e-3;  // of the median
constexpr std::size_t kFewestDays = 3;
constexpr double kRepeatLevel = 0.01;  // over all hosts

/// day -> member -> values
using Days = std::map<std::int64_t, std::map<std::size_t, std::vector<double>>>;

Days days_of(const std::vector<FleetMember>& members, const FleetSettings& settings) {
  Days days;
  const double since = static_cast<double>(settings.now_ns) - settings.incident_days * kDayNs;
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const FleetValue& value : members[i].values)
      if (static_cast<double>(value.time_ns) >= since && value.time_ns <= settings.now_ns)
        days[day_of(value.time_ns)][i].push_back(value.value);
  return days;
}

}  // namespace

void add_incidents(const std::vector<FleetMember>& members, Better better, double threshold,
                   const FleetSettings& settings, Incidents& incidents) {
  for (const auto& [day, of_members] : days_of(members, settings)) {
    if (of_members.size() < kFewestPeers) continue;
    std::vector<double> values;
    std::vector<std::size_t> who;
    for (const auto& [member, runs] : of_members) {
      who.push_back(member);
      values.push_back(median(runs));
    }
    const auto scores = peer_scores(values, better, kLeastSigma * std::abs(median(values)));
    for (std::size_t i = 0; i < who.size(); ++i)
      if (loss(values[i], scores.median, better) > threshold && scores.levels[i] <= kIncidentLevel)
        incidents[members[who[i]].host].insert(day);
  }
}

void find_repeat_failures(std::vector<FleetHostReport>& hosts) {
  double all = 0.0;
  for (const FleetHostReport& host : hosts) all += static_cast<double>(host.incidents.size());
  const auto n = static_cast<double>(hosts.size());
  if (hosts.size() < 2) return;
  for (FleetHostReport& host : hosts) {
    const auto own = static_cast<double>(host.incidents.size());
    // Half an incident more, as no rate is known to be zero.
    const double rate = (all - own + 0.5) / (n - 1.0);
    host.repeat_p = own > 0.0 ? poisson_at_least(own, rate) : 1.0;
    host.repeat_failures =
        host.incidents.size() >= kFewestDays && host.repeat_p * n <= kRepeatLevel;
  }
}

}  // namespace bench

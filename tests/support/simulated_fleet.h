// Simulated history of a fleet with host and run noise and some bad hosts.
#pragma once

#include <fmt/format.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "results/verdicts/fleet/fleet_report.h"

namespace bench {

struct SimulatedFleet {
  std::size_t hosts = 32, metrics = 1, runs = 5;
  double host_noise = 0.003, run_noise = 0.003;  // relative, Gaussian
  std::size_t bad = 0;                           // the last ones
  double lost = 0.06;
  std::int64_t now_ns = 1'795'000'000'000'000'000;
  std::string kind = "64 threads";
};

inline std::string simulated_host(std::size_t i) { return fmt::format("node{:04}", i + 1); }

/// One metric; one run per day, the newest half a day before now.
template <class Random>
FleetSeries simulated_series(const SimulatedFleet& fleet, const std::string& metric,
                             Random& random) {
  constexpr std::int64_t kDay = 86'400'000'000'000;
  FleetSeries series{metric, Json::object(), "host", Unit::byte_per_second, Better::higher, {}};
  std::normal_distribution<double> gauss;
  for (std::size_t h = 0; h < fleet.hosts; ++h) {
    FleetMember member{simulated_host(h), "host", fleet.kind};
    const bool bad = h + fleet.bad >= fleet.hosts;
    const double own =
        1e11 * (1.0 + fleet.host_noise * gauss(random)) * (bad ? 1.0 - fleet.lost : 1.0);
    for (std::size_t r = fleet.runs; r > 0; --r)
      member.values.push_back({fleet.now_ns - static_cast<std::int64_t>(r) * kDay + kDay / 2,
                               own * (1.0 + fleet.run_noise * gauss(random))});
    series.members.push_back(std::move(member));
  }
  return series;
}

template <class Random>
FleetReport judged_fleet(const SimulatedFleet& fleet, Random& random,
                         const std::optional<FleetProfile>& profile = {}) {
  FleetSettings settings;
  settings.now_ns = fleet.now_ns;
  settings.profile = profile;
  FleetJudge judge(settings);
  for (std::size_t m = 0; m < fleet.metrics; ++m)
    judge.take(simulated_series(fleet, fmt::format("demo{}.bandwidth", m), random));
  return judge.finish();
}

inline std::set<std::string> failed_hosts(const FleetReport& report) {
  std::set<std::string> failed;
  for (const FleetHostReport& host : report.hosts)
    if (host.verdict == Verdict::fail) failed.insert(host.host);
  return failed;
}

}  // namespace bench

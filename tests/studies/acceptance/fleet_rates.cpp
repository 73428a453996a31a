// False alarm and detection rates of report fleet among 8 to 1,000 hosts, and the fleets that it
// refuses to learn from, simulated with the production code. Prints one JSON object, which
// scripts/evidence fleet_rates stores. Arguments: hosts per line, seed.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "tests/support/simulated_fleet.h"

using namespace bench;

namespace {

struct Rates {
  std::size_t fleets = 0, accused = 0, bad = 0, found = 0, others = 0;
};

Rates rates(const SimulatedFleet& fleet, std::size_t fleets, std::mt19937_64& random,
            const std::optional<FleetProfile>& profile) {
  Rates sum;
  for (std::size_t i = 0; i < fleets; ++i) {
    const auto failed = failed_hosts(judged_fleet(fleet, random, profile));
    std::size_t found = 0;
    for (std::size_t h = fleet.hosts - fleet.bad; h < fleet.hosts; ++h)
      found += failed.contains(simulated_host(h)) ? 1 : 0;
    ++sum.fleets;
    sum.bad += fleet.bad;
    sum.found += found;
    sum.others += failed.size() - found;
    sum.accused += failed.size() > found ? 1 : 0;
  }
  return sum;
}

/// `noise`: relative standard deviation of a host's value (the median of its runs), half of the
/// variance between hosts, half between runs.
void set_noise(SimulatedFleet& fleet, double noise) {
  constexpr double kMedianOverMean = 1.2533;
  fleet.host_noise = noise * std::sqrt(0.5);
  fleet.run_noise = fleet.host_noise * std::sqrt(static_cast<double>(fleet.runs)) / kMedianOverMean;
}

/// A profile learned from 256 healthy hosts of the same kind.
FleetProfile taught(double noise, std::size_t metrics, std::mt19937_64& random) {
  SimulatedFleet fleet;
  fleet.hosts = 256;
  fleet.metrics = metrics;
  set_noise(fleet, noise);
  return judged_fleet(fleet, random).learned;
}

Json line(const SimulatedFleet& fleet, double noise, const Rates& sum, bool with_profile) {
  const auto share = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? Json() : Json(static_cast<double>(part) / static_cast<double>(whole));
  };
  Json json = {{"hosts", fleet.hosts},
               {"bad", fleet.bad},
               {"metrics", fleet.metrics},
               {"noise", noise},
               {"profile", with_profile},
               {"fleets", sum.fleets},
               {"found_share", share(sum.found, sum.bad)},
               {"falsely_accusing_share", share(sum.accused, sum.fleets)},
               {"others_accused", sum.others}};
  std::fprintf(stderr, "%s\n", dump(json).c_str());
  return json;
}

/// The number of such fleets refused for learning.
Json lessons(const std::string& what, const std::vector<SimulatedFleet>& parts, std::size_t fleets,
             std::mt19937_64& random) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < fleets; ++i) {
    std::vector<std::vector<double>> runs;
    for (const SimulatedFleet& part : parts)
      for (const FleetMember& member : simulated_series(part, "demo.bandwidth", random).members) {
        runs.emplace_back();
        for (const FleetValue& value : member.values) runs.back().push_back(value.value);
      }
    refused += learn(runs, 0.01).criterion ? 0 : 1;
  }
  std::size_t hosts = 0;
  for (const SimulatedFleet& part : parts) hosts += part.hosts;
  Json json = {{"fleet", what},
               {"hosts", hosts},
               {"host_noise", parts.front().host_noise},
               {"fleets", fleets},
               {"refused_share", static_cast<double>(refused) / static_cast<double>(fleets)}};
  std::fprintf(stderr, "%s\n", dump(json).c_str());
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  const auto budget = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 200'000);
  std::mt19937_64 random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  Json result = {{"lost", 0.06}, {"threshold", 0.01}, {"runs", 5}};
  for (const double noise : {0.002, 0.005, 0.01})
    for (const std::size_t metrics : {1, 6})
      for (const bool with_profile : {false, true}) {
        std::optional<FleetProfile> profile;
        if (with_profile) profile = taught(noise, metrics, random);
        for (const std::size_t hosts : {8, 16, 32, 100, 1000})
          for (const double share : {0.0, 0.01, 0.05, 0.1}) {
            SimulatedFleet fleet;
            fleet.hosts = hosts;
            fleet.metrics = metrics;
            set_noise(fleet, noise);
            fleet.bad = static_cast<std::size_t>(std::round(share * static_cast<double>(hosts)));
            if (share > 0.0 && fleet.bad == 0) continue;
            const std::size_t fleets = std::max<std::size_t>(200, budget / hosts / metrics);
            result["lines"].push_back(
                line(fleet, noise, rates(fleet, fleets, random, profile), with_profile));
          }
      }
  for (const std::size_t hosts : {8, 16, 64, 256})
    for (const double noise : {0.002, 0.01}) {
      SimulatedFleet one;
      one.hosts = hosts;
      set_noise(one, noise);
      SimulatedFleet half = one, other = one;
      half.hosts = hosts / 2;
      other.hosts = hosts - half.hosts;
      other.bad = other.hosts;
      other.lost = 0.12;
      SimulatedFleet ill = one;
      ill.bad = hosts * 2 / 5;
      ill.lost = 0.5;
      const std::size_t fleets = std::max<std::size_t>(50, budget / hosts / 20);
      result["lessons"].push_back(lessons("healthy", {one}, fleets, random));
      result["lessons"].push_back(lessons("two kinds, 12 % apart", {half, other}, fleets, random));
      result["lessons"].push_back(lessons("two fifths at half", {ill}, fleets, random));
    }
  std::printf("%s\n", dump(result).c_str());
}

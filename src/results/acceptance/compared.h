// One metric over the hosts that measured it, and how likely chance accuses each of them.
#pragma once

#include <string>
#include <vector>

#include "results/acceptance/observations.h"
#include "results/acceptance/peers.h"

namespace bench {

struct Compared {
  const MetricRuns* metric = nullptr;
  Hosts hosts;
  std::vector<std::string> owners;  // the host that each of them is, or is a part of
  std::vector<std::vector<double>> runs;
  std::vector<double> centres;
  Moderated noise;
  PeerScores scores, scatter;                  // scatter: of the logarithm of each host's noise
  std::vector<double> chance, scatter_chance;  // of each: levels corrected by host_chances()
};

/// Of the hosts asked for, those that have usable runs.
Compared compared(const MetricRuns& metric, const Hosts& asked);

/// What one metric says of its hosts.
struct HostLevels {
  const std::vector<std::string>* owners = nullptr;
  const std::vector<double>* levels = nullptr;
};

/// Levels corrected for the number of metrics that a host has (Simes 1986, Benjamini and Hochberg
/// within the host): who is bad in many is found in each, and a healthy fleet has anybody at or
/// below a level with that chance. In the order given.
std::vector<std::vector<double>> host_chances(const std::vector<HostLevels>& metrics);

/// Fills in the chances: all metrics are looked at together.
void find_chances(std::vector<Compared>& fields);

}  // namespace bench

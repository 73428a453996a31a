// One metric over the hosts that measured it, with the false-alarm probability of each.
#pragma once

#include <string>
#include <vector>

#include "results/stats/peers.h"
#include "results/verdicts/peers/observations.h"

namespace bench {

/// Shares of the level: the gates that compare hosts divide the false-alarm probability.
inline constexpr double kPeersShare = 0.4;
inline constexpr double kRepeatabilityShare = 0.2;
inline constexpr double kPairsShare = 0.4;

struct Compared {
  const MetricRuns* metric = nullptr;
  Hosts hosts;
  std::vector<std::string> owners;  // the host of each entry
  std::vector<std::vector<double>> runs;
  std::vector<double> centres;
  Moderated noise;
  PeerScores scores, scatter;                  // scatter: of the logarithm of each host's noise
  std::vector<double> chance, scatter_chance;  // per host: levels corrected by host_chances()
};

/// The requested hosts that have usable runs.
Compared compared(const MetricRuns& metric, const Hosts& asked);

/// The levels of one metric.
struct HostLevels {
  const std::vector<std::string>* owners = nullptr;
  const std::vector<double>* levels = nullptr;
};

/// Levels corrected for the number of metrics of a host (Simes 1986, Benjamini and Hochberg within
/// the host): a host that is bad in many metrics is found in each, and a healthy fleet has any host
/// at or below a level with that probability. In the order given.
std::vector<std::vector<double>> host_chances(const std::vector<HostLevels>& metrics);

/// Fills in the chances, over all metrics together.
void find_chances(std::vector<Compared>& fields);

}  // namespace bench

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

/// Half-width of an interval that bounds one side with 95 %, as a share of one that bounds both.
inline constexpr double kOneSided = 0.84;

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

/// The loss, as a share, that could be seen on a typical host: below it lie what repeats differ by
/// and what the hosts differ by, unless that is so much more than `allowed` that some of them are
/// suspect.
double visible_loss(const Compared& field, double allowed);

/// Whether noise alone keeps a host from passing (all shares; `half`: of the interval of 95 % of
/// its loss): that of the fleet, which hides losses up to `visible`, or that of the host while its
/// loss is neither above what is allowed nor beyond chance. A fault that makes a host vary excuses
/// nothing.
bool is_noise(double loss, double half, double allowed, double visible);

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

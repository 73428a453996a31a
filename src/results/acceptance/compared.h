// One metric over the hosts that measured it, and which metrics have somebody who is accused.
#pragma once

#include <string>
#include <vector>

#include "results/acceptance/observations.h"
#include "results/acceptance/peers.h"

namespace bench {

struct Compared {
  const MetricRuns* metric = nullptr;
  Hosts hosts;
  std::vector<std::vector<double>> runs;
  std::vector<double> centres;
  Moderated noise;
  PeerScores scores, scatter;  // scatter: of the logarithm of each host's noise
  bool peers_reject = false, scatter_rejects = false;
};

/// The least z; 0 for none.
double worst(const PeerScores& scores);

/// Of the hosts asked for, those that have usable runs.
Compared compared(const MetricRuns& metric, const Hosts& asked);

/// Fills in what is rejected: all metrics are looked at together. `level`: the chance that a
/// healthy fleet has anybody accused.
void find_rejected(std::vector<Compared>& fields, double level);

}  // namespace bench

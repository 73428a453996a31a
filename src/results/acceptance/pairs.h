// Log rates between all pairs of hosts in one metric, and a score per host: the upper quartile of
// its pairs, so that one slow partner or link does not lower it.
#pragma once

#include <string>
#include <vector>

#include "results/acceptance/observations.h"
#include "results/acceptance/peers.h"

namespace bench {

struct Pair {
  std::string a, b;
  double log_rate = 0.0;  // larger is better
  double value = 0.0;
  std::string job;
  bool has(const std::string& host) const { return a == host || b == host; }
  const std::string& other(const std::string& host) const { return a == host ? b : a; }
};

struct Pairs {
  const MetricRuns* metric = nullptr;
  std::vector<Pair> pairs;
  Hosts hosts;
  std::vector<double> best;  // of each host: the upper quartile of its pairs, log
  PeerScores scores;
  std::vector<double> chance;  // of each host: its level by host_chances()
  bool rough = false;          // some only disturbed by other work: values are best samples
};

/// For the requested hosts; empty if the metric was not measured between two hosts.
Pairs pairs_of(const MetricRuns& metric, const Hosts& asked);
/// Scores of log rates.
PeerScores pair_scores(const std::vector<double>& rates);

/// The loss for a log distance: 0.05 for 95 against 100.
double loss_of(double distance);
/// Converts a log rate back to a rate or time.
double as_value(const Pairs& all, double log_rate);

}  // namespace bench

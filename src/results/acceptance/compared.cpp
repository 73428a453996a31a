#include "results/acceptance/compared.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/acceptance/hearing.h"
#include "results/acceptance/peer_cuts.h"
#include "results/statistics/false_discovery.h"

namespace bench {
namespace {

constexpr double kNoiseFloor = 0.001;  // of the median: finer than any threshold

}  // namespace

double worst(const PeerScores& scores) {
  return scores.z.empty() ? 0.0 : *std::ranges::min_element(scores.z);
}

Compared compared(const MetricRuns& metric, const Hosts& asked) {
  Compared field;
  field.metric = &metric;
  for (const std::string& host : asked) {
    auto values = metric.values({host});
    if (values.empty()) continue;
    field.hosts.push_back(host);
    field.centres.push_back(median(values));
    field.runs.push_back(std::move(values));
  }
  const double centre = median(field.centres);
  field.noise = moderated_noise(field.runs, centre);
  std::vector<double> counts;
  for (const auto& values : field.runs) counts.push_back(static_cast<double>(values.size()));
  const double of_median = field.noise.fleet / std::sqrt(median(counts));
  field.scores =
      peer_scores(field.centres, metric.better, std::fmax(kNoiseFloor, of_median) * centre);
  std::vector<double> logs;
  for (const double noise : field.noise.of_host)
    if (std::isfinite(noise)) logs.push_back(std::log(std::max(noise, kNoiseFloor)));
  if (logs.size() == field.hosts.size())
    field.scatter = peer_scores(logs, Better::lower, kNoiseFloor);
  return field;
}

void find_rejected(std::vector<Compared>& fields, double level) {
  std::vector<double> peers, scatter;
  for (const Compared& field : fields) {
    peers.push_back(peer_level(field.hosts.size(), worst(field.scores)));
    scatter.push_back(peer_level(field.hosts.size(), worst(field.scatter)));
  }
  const auto by_peers = rejected(peers, kPeersShare * level);
  const auto by_scatter = rejected(scatter, kRepeatabilityShare * level);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].peers_reject = by_peers[i];
    fields[i].scatter_rejects = by_scatter[i];
  }
}

}  // namespace bench

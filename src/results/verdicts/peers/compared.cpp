#include "results/verdicts/peers/compared.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/order_statistics.h"
#include "results/stats/false_discovery.h"

namespace bench {
namespace {

constexpr double kNoiseFloor = 0.001;  // of the median, below every threshold

}  // namespace

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
  field.owners = field.hosts;
  return field;
}

double visible_loss(const Compared& field, double allowed) {
  // Hosts that differ by more than this multiple of what is allowed are more than one kind, or
  // several of them are slow: that is no excuse for any.
  constexpr double kMostHostScatter = 2.5;
  constexpr double kOneSided95 = 1.645;
  const double repeats = kOneSided * finite_median(field.noise.half);
  const double hosts = kOneSided95 * field.scores.sigma / std::abs(field.scores.median);
  return hosts <= kMostHostScatter * allowed ? std::fmax(repeats, hosts) : repeats;
}

bool is_noise(double loss, double half, double allowed, double visible) {
  // A loss within this multiple of its half-width (95 %) is no sign of a fault: three standard
  // errors, as many metrics of many hosts are looked at.
  constexpr double kNoSign = 1.5;
  if (visible > allowed && loss <= visible) return true;
  return loss <= allowed && loss <= kNoSign * half;
}

std::vector<std::vector<double>> host_chances(const std::vector<HostLevels>& metrics) {
  std::map<std::string, std::vector<double*>> of_host;
  std::vector<std::vector<double>> chances;
  for (const HostLevels& metric : metrics) chances.push_back(*metric.levels);
  for (std::size_t m = 0; m < metrics.size(); ++m)
    for (std::size_t i = 0; i < chances[m].size(); ++i)
      of_host[(*metrics[m].owners)[i]].push_back(&chances[m][i]);
  for (const auto& [host, places] : of_host) {
    std::vector<double> levels;
    for (const double* place : places) levels.push_back(*place);
    const auto corrected = adjusted_bh(levels);
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = corrected[i];
  }
  return chances;
}

void find_chances(std::vector<Compared>& fields) {
  std::vector<HostLevels> peers, scatter;
  for (const Compared& field : fields) {
    peers.push_back({&field.owners, &field.scores.levels});
    scatter.push_back({&field.owners, &field.scatter.levels});
  }
  auto chances = host_chances(peers);
  auto scatter_chances = host_chances(scatter);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fields[i].chance = std::move(chances[i]);
    fields[i].scatter_chance = std::move(scatter_chances[i]);
  }
}

}  // namespace bench

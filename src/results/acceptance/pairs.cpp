#include "results/acceptance/pairs.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/order_statistics.h"

namespace bench {
namespace {

// Of the logarithm: runs between healthy hosts differ by a few per cent.
constexpr double kPairFloor = 0.01;

}  // namespace

Pairs pairs_of(const MetricRuns& metric, const Hosts& asked) {
  Pairs all;
  all.metric = &metric;
  const double direction = metric.better == Better::lower ? -1.0 : 1.0;
  for (const auto& [hosts, runs] : metric.by_hosts) {
    const auto values = metric.values(hosts);
    const double best = metric.best(hosts);
    if (hosts.size() != 2 || std::isnan(best)) continue;
    const double value = values.empty() ? best : median(values);
    all.rough |= values.empty();
    all.pairs.push_back({hosts[0], hosts[1], direction * std::log(value), value, runs[0].job});
  }
  if (all.rough)  // alike for all
    for (Pair& pair : all.pairs) {
      pair.value = metric.best({pair.a, pair.b});
      pair.log_rate = direction * std::log(pair.value);
    }
  for (const std::string& host : asked) {
    std::vector<double> rates;
    for (const Pair& pair : all.pairs)
      if (pair.has(host)) rates.push_back(pair.log_rate);
    if (rates.empty()) continue;
    std::ranges::sort(rates, std::greater<>());
    all.hosts.push_back(host);
    all.best.push_back(rates[(rates.size() - 1) / 4]);
  }
  if (!all.best.empty()) all.scores = pair_scores(all.best);
  return all;
}

PeerScores pair_scores(const std::vector<double>& rates) {
  return peer_scores(rates, Better::higher, kPairFloor);
}

double loss_of(double distance) { return 1.0 - std::exp(std::min(distance, 0.0)); }

double as_value(const Pairs& all, double log_rate) {
  return std::exp(all.metric->better == Better::lower ? -log_rate : log_rate);
}

}  // namespace bench

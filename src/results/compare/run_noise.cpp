#include "results/compare/run_noise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/order_statistics.h"

namespace bench {
namespace {

/// Few enough to be read run by run.
constexpr std::size_t kRunsOfNoise = 8;

std::set<std::int64_t> runs_of(const Side& side) {
  std::set<std::int64_t> runs;
  for (const auto& [key, units] : side.metrics)
    for (const auto& [unit, points] : units)
      for (const Point& point : points) runs.insert(point.run);
  return runs;
}

/// Ids of the newest runs before the last of `taken` that are not among them.
std::vector<std::string> other_runs(const Histories& histories,
                                    const std::set<std::int64_t>& taken) {
  std::vector<std::string> ids;
  const auto all = histories.runs({});
  for (auto run = all.rbegin(); run != all.rend() && ids.size() < kRunsOfNoise; ++run)
    if (!taken.empty() && *run < *taken.rbegin() && !taken.contains(*run))
      ids.push_back(histories.run(*run).id);
  return ids;
}

struct Pool {
  double squares = 0.0, degrees = 0.0;
};

void add_unit(const SeriesHistory& history, Pool& pool) {
  std::vector<double> logs;
  for (const Point& point : history.points)
    if (point.value > 0.0) logs.push_back(std::log(point.value));
  if (logs.size() < 2) return;
  const double deviation = standard_deviation(logs);
  pool.squares += deviation * deviation * static_cast<double>(logs.size() - 1);
  pool.degrees += static_cast<double>(logs.size() - 1);
}

}  // namespace

bool needs_run_noise(const Side& a, const Side& b) { return a.runs == 1 && b.runs == 1; }

std::map<MetricKey, RunNoise> run_noise(const Histories& histories, const Side& a, const Side& b) {
  std::map<MetricKey, RunNoise> noise;
  std::set<std::int64_t> taken = runs_of(a);
  taken.merge(runs_of(b));
  const auto ids = other_runs(histories, taken);
  if (ids.size() < 2) return noise;
  std::map<MetricKey, Pool> pools;
  histories.each({.runs = ids}, [&](const SeriesHistory& history) {
    const MetricKey key = metric_key(history.key);
    const auto compared = a.metrics.find(key);
    if (compared != a.metrics.end() &&
        compared->second.contains({history.key.host, history.key.device}))
      add_unit(history, pools[key]);
  });
  for (const auto& [key, pool] : pools)
    if (pool.degrees > 0.0) noise[key] = {std::sqrt(pool.squares / pool.degrees), pool.degrees};
  return noise;
}

}  // namespace bench

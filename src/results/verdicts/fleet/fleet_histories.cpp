#include "results/verdicts/fleet/fleet_histories.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "core/json.h"
#include "core/text.h"
#include "results/store/sqlite.h"
#include "results/verdicts/peers/host_kinds.h"

namespace bench {
namespace {

/// Collects series of one metric and params, which arrive in sequence.
class Gathering {
 public:
  explicit Gathering(const std::function<void(FleetSeries)>& take) : take_(take) {}

  void add(const SeriesHistory& history, const std::string& kind) {
    const SeriesKey& key = history.key;
    if (key.metric != metric_ || key.params != params_) flush();
    metric_ = key.metric;
    params_ = key.params;
    const std::string device = kind_of_device(key.device);
    FleetSeries& series = waiting_[{device, key.over, key.ranks, key.unit, key.better}];
    series.metric = key.metric;
    series.params = key.params;
    if (key.ranks > 1 && !series.params.contains("ranks")) series.params["ranks"] = key.ranks;
    series.device = device;
    series.unit = key.unit;
    series.better = key.better;
    FleetMember member{key.host, key.device, kind};
    for (const Point& point : history.points) member.values.push_back({point.time_ns, point.value});
    series.members.push_back(std::move(member));
  }

  void flush() {
    for (auto& [key, series] : waiting_) take_(std::move(series));
    waiting_.clear();
  }

 private:
  const std::function<void(FleetSeries)>& take_;
  std::string metric_;
  Json params_;
  std::map<std::tuple<std::string, std::string, int, Unit, Better>, FleetSeries> waiting_;
};

}  // namespace

void for_each_fleet_series(const Histories& histories, const Selection& selection,
                           const std::function<void(FleetSeries)>& take) {
  Gathering gathering(take);
  std::map<std::int64_t, std::string> kinds;  // by configuration
  histories.each(selection, [&](const SeriesHistory& history) {
    if (history.key.host.empty() || history.points.empty()) return;
    const std::int64_t configuration = history.points.back().configuration;
    const auto [kind, is_new] = kinds.try_emplace(configuration);
    if (is_new) kind->second = kind_of_host(histories.configuration(configuration));
    gathering.add(history, kind->second);
  });
  gathering.flush();
}

std::vector<FleetFault> fleet_faults(const Store& store, std::int64_t since_ns) try {
  SQLite::Statement query(
      store.database(),
      "SELECT run.time_ns, job.hosts, job.probe, job.outcome, job.reason FROM job JOIN run ON "
      "run.id = job.run WHERE run.time_ns >= ? AND job.outcome IN ('failed', 'timed_out', "
      "'invalid') AND COALESCE((SELECT kind FROM journal WHERE journal.run = run.id AND kind IN "
      "('discard', 'restore') ORDER BY line DESC LIMIT 1), '') <> 'discard' ORDER BY run.time_ns");
  query.bind(1, since_ns);
  std::vector<FleetFault> faults;
  while (query.executeStep()) {
    const Json hosts = try_parse_json(query.getColumn(1).getString()).value_or(Json());
    if (!hosts.is_array() || hosts.size() != 1 || !hosts[0].is_string()) continue;
    faults.push_back({query.getColumn(0).getInt64(), hosts[0].get<std::string>(),
                      fmt::format("{} {}: {}", query.getColumn(2).getString(),
                                  query.getColumn(3).getString(), query.getColumn(4).getString())});
  }
  return faults;
} catch (const SQLite::Exception& error) {
  rethrow(error, store.database().getFilename());
}

}  // namespace bench

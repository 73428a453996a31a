#include "results/verdicts/fleet/fleet_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/json.h"
#include "core/text.h"
#include "results/run/conclusion.h"
#include "results/run/metric_catalogue.h"
#include "results/store/sqlite.h"
#include "results/verdicts/fleet/fleet_group.h"
#include "results/verdicts/peers/compared.h"
#include "results/verdicts/peers/host_kinds.h"

namespace bench {
namespace {

/// The newest `last` positive past values, oldest first.
void keep_newest(FleetMember& member, const FleetSettings& settings) {
  auto& values = member.values;
  if (values.size() > settings.last)
    values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(settings.last));
}

void keep_valid(FleetMember& member, const FleetSettings& settings) {
  std::erase_if(member.values, [&](const FleetValue& value) {
    return !(value.value > 0.0) || !std::isfinite(value.value) || value.time_ns > settings.now_ns;
  });
  std::ranges::stable_sort(member.values, {}, &FleetValue::time_ns);
}

std::vector<std::vector<double>> runs_of(const FleetGroup& group) {
  std::vector<std::vector<double>> runs;
  for (const std::size_t i : group.placed) {
    runs.emplace_back();
    for (const FleetValue& value : group.members[i].values) runs.back().push_back(value.value);
  }
  return runs;
}

}  // namespace

struct FleetJudge::State {
  FleetSettings settings;
  std::map<std::string, const Criterion*> criteria;
  std::vector<FleetGroup> groups;
  Incidents incidents;

  explicit State(FleetSettings given) : settings(std::move(given)) {
    if (!settings.profile) return;
    for (const ProfileEntry& entry : settings.profile->entries)
      criteria[text_of(entry.key)] = &entry.criterion;
  }

  void add(FleetGroup group) {
    add_incidents(group.members, group.about.better, group.about.threshold, settings, incidents);
    for (FleetMember& member : group.members) keep_newest(member, settings);
    const auto found = criteria.find(text_of(group.about.key));
    if (found != criteria.end()) group.criterion = found->second;
    compare(group, settings);
    group.series = groups.size();
    groups.push_back(std::move(group));
  }

  /// Considers all metrics together. The peers get the share of the level that no profile uses.
  void find_all_chances(std::size_t golden_tests) {
    std::vector<Compared> fields;
    for (FleetGroup& group : groups) fields.push_back(std::move(group.peers));
    find_chances(fields);
    const double peers_share = kPeersShare + (golden_tests > 0 ? 0.0 : kGoldenShare);
    for (std::size_t i = 0; i < groups.size(); ++i) {
      groups[i].peers = std::move(fields[i]);
      groups[i].peers_level = peers_share * settings.level;
      groups[i].golden_tests = std::max<std::size_t>(1, golden_tests);
    }
  }

  void learn_all(FleetReport& report) const {
    report.learned.time_ns = settings.now_ns;
    for (const FleetGroup& group : groups) {
      LearnResult result = learn(runs_of(group), group.about.threshold);
      if (result.criterion)
        report.learned.entries.push_back(
            {group.about.key, group.about.unit, group.about.better, *std::move(result.criterion)});
      else
        report.learned.refused.push_back({group.about.key, result.refusal});
    }
  }
};

namespace {

void conclude(FleetReport& report) {
  Conclusion conclusion;
  for (const FleetHostReport& host : report.hosts) conclusion.add(host.verdict);
  report.verdict = conclusion.verdict();
  report.exit_code = conclusion.exit_code();
}

}  // namespace

void keep_hosts(FleetReport& report, const std::vector<std::string>& hosts) {
  if (hosts.empty()) return;
  std::vector<std::string> known;
  for (const FleetHostReport& host : report.hosts) known.push_back(host.host);
  for (const std::string& host : hosts)
    if (std::ranges::find(known, host) == known.end())
      throw Error(ErrorKind::input,
                  "host '" + printable(host) + "' was not measured in that period." +
                      did_you_mean(host, known),
                  fmt::format("{} hosts were measured", known.size()));
  const auto other = [&](const auto& one) {
    return std::ranges::find(hosts, one.host) == hosts.end();
  };
  std::erase_if(report.hosts, other);
  std::erase_if(report.rows, other);
  conclude(report);
}

FleetJudge::FleetJudge(FleetSettings settings)
    : state_(std::make_unique<State>(std::move(settings))) {}
FleetJudge::~FleetJudge() = default;

void FleetJudge::take(FleetSeries series) {
  const auto threshold = practical_threshold(series.metric, state_->settings.thresholds);
  if (series.better == Better::none || !threshold) return;
  std::map<std::string, std::vector<FleetMember>> by_kind;
  for (FleetMember& member : series.members) {
    keep_valid(member, state_->settings);
    if (!member.values.empty()) by_kind[member.kind].push_back(std::move(member));
  }
  for (auto& [kind, members] : by_kind) {
    FleetGroup group;
    group.about.key = {series.metric, series.params, series.device, kind};
    group.about.unit = series.unit;
    group.about.better = series.better;
    group.about.threshold = *threshold;
    group.members = std::move(members);
    state_->add(std::move(group));
  }
}

FleetReport FleetJudge::finish(const std::vector<FleetFault>& faults) {
  State& state = *state_;
  std::size_t golden_tests = 0;
  for (const FleetGroup& group : state.groups)
    golden_tests += group.criterion == nullptr ? 0 : group.placed.size();
  state.find_all_chances(golden_tests);
  FleetReport report;
  report.time_ns = state.settings.now_ns;
  for (const FleetGroup& group : state.groups) {
    report.series.push_back(group.about);
    for (FleetRow& row : judge(group, state.settings)) {
      report.series.back().unresolved += row.unresolved ? 1 : 0;
      report.series.back().rare |= row.rare;
      report.rows.push_back(std::move(row));
    }
  }
  const double since =
      static_cast<double>(state.settings.now_ns) - state.settings.incident_days * kDayNs;
  for (const FleetFault& fault : faults)
    if (static_cast<double>(fault.time_ns) >= since && fault.time_ns <= state.settings.now_ns)
      state.incidents[fault.host].insert(day_of(fault.time_ns));
  report.hosts = host_reports(state.groups, report.rows, state.settings, state.incidents);
  state.learn_all(report);
  report.settings = state.settings;
  conclude(report);
  return report;
}

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

FleetReport stored_fleet(const Store& store, const Histories& histories,
                         const FleetSettings& settings, Selection selection) {
  const auto since = [&](double days) {
    return settings.now_ns - static_cast<std::int64_t>(days * kDayNs);
  };
  selection.from_ns = since(std::max(settings.incident_days, 2.0 * settings.valid_days));
  selection.to_ns = settings.now_ns + 1;
  FleetJudge judge(settings);
  for_each_fleet_series(histories, selection,
                        [&](FleetSeries series) { judge.take(std::move(series)); });
  return judge.finish(fleet_faults(store, since(settings.incident_days)));
}

}  // namespace bench

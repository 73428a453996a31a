#include "results/verdicts/fleet/fleet_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/order_statistics.h"
#include "core/text.h"
#include "results/stats/distributions.h"
#include "results/stats/peers.h"
#include "results/verdicts/peers/compared.h"
#include "results/verdicts/peers/criteria.h"

namespace bench {
namespace {

// Hosts with repeat failures.

/// For one day and metric: stricter than the level of a verdict, as there are many.
constexpr double kIncidentLevel = 1e-4;
constexpr double kLeastSigma = 1e-3;  // of the median
constexpr std::size_t kFewestDays = 3;
constexpr double kRepeatLevel = 0.01;  // over all hosts

/// day -> member -> values
using Days = std::map<std::int64_t, std::map<std::size_t, std::vector<double>>>;

Days days_of(const std::vector<FleetMember>& members, const FleetSettings& settings) {
  Days days;
  const double since = static_cast<double>(settings.now_ns) - settings.incident_days * kDayNs;
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const FleetValue& value : members[i].values)
      if (static_cast<double>(value.time_ns) >= since && value.time_ns <= settings.now_ns)
        days[day_of(value.time_ns)][i].push_back(value.value);
  return days;
}

}  // namespace

void add_incidents(const std::vector<FleetMember>& members, Better better, double threshold,
                   const FleetSettings& settings, Incidents& incidents) {
  for (const auto& [day, of_members] : days_of(members, settings)) {
    if (of_members.size() < kFewestPeers) continue;
    std::vector<double> values;
    std::vector<std::size_t> who;
    for (const auto& [member, runs] : of_members) {
      who.push_back(member);
      values.push_back(median(runs));
    }
    const auto scores = peer_scores(values, better, kLeastSigma * std::abs(median(values)));
    for (std::size_t i = 0; i < who.size(); ++i)
      if (loss(values[i], scores.median, better) > threshold && scores.levels[i] <= kIncidentLevel)
        incidents[members[who[i]].host].insert(day);
  }
}

void find_repeat_failures(std::vector<FleetHostReport>& hosts) {
  double all = 0.0;
  for (const FleetHostReport& host : hosts) all += static_cast<double>(host.incidents.size());
  const auto n = static_cast<double>(hosts.size());
  if (hosts.size() < 2) return;
  for (FleetHostReport& host : hosts) {
    const auto own = static_cast<double>(host.incidents.size());
    // Half an incident more, as no rate is known to be zero.
    const double rate = (all - own + 0.5) / (n - 1.0);
    host.repeat_p = own > 0.0 ? poisson_at_least(own, rate) : 1.0;
    host.repeat_failures =
        host.incidents.size() >= kFewestDays && host.repeat_p * n <= kRepeatLevel;
  }
}

namespace {

// Combines the rows of a fleet into a report per host.

constexpr double kMostMeasured = 0.5;  // share of a kind from which a missing metric counts

int weight(Verdict verdict) {
  return verdict == Verdict::fail ? 0 : verdict == Verdict::inconclusive ? 1 : 2;
}

/// host -> its report, from rows, faults and incidents.
using HostReports = std::map<std::string, FleetHostReport>;

void add_row(const FleetRow& row, const FleetSettings& settings, HostReports& hosts) {
  FleetHostReport& host = hosts[row.host];
  host.host = row.host;
  const auto expires = row.last_ns + static_cast<std::int64_t>(settings.valid_days * kDayNs);
  host.checked_ns = std::max(host.checked_ns, row.last_ns);
  host.expires_ns = host.expires_ns == 0 ? expires : std::min(host.expires_ns, expires);
  host.expired |= row.gate == "expired";
  host.passed += row.verdict == Verdict::pass ? 1 : 0;
  host.failed += row.verdict == Verdict::fail ? 1 : 0;
  host.unresolved += row.unresolved ? 1 : 0;
  host.rare += row.rare ? 1 : 0;
  host.inconclusive += row.verdict == Verdict::inconclusive && !row.unresolved && !row.rare ? 1 : 0;
}

/// Metrics that most hosts of a kind have and this one lacks.
void add_missing(const std::vector<FleetGroup>& groups, HostReports& hosts) {
  std::map<std::string, std::set<std::string>> of_kind;  // device and kind -> hosts
  const auto kind_of = [](const FleetGroup& group) {
    return group.about.key.device + "\n" + group.about.key.kind;
  };
  for (const FleetGroup& group : groups)
    for (const FleetMember& member : group.members) of_kind[kind_of(group)].insert(member.host);
  std::map<std::string, std::pair<std::size_t, std::string>> missing;
  for (const FleetGroup& group : groups) {
    std::set<std::string> measured;
    for (const FleetMember& member : group.members) measured.insert(member.host);
    const auto& all = of_kind[kind_of(group)];
    if (static_cast<double>(measured.size()) < kMostMeasured * static_cast<double>(all.size()))
      continue;
    for (const std::string& host : all)
      if (!measured.contains(host)) {
        auto& [count, example] = missing[host];
        if (count++ == 0) example = group.about.key.metric;
      }
  }
  for (const auto& [host, what] : missing) {
    hosts[host].inconclusive += what.first;
    hosts[host].reasons.push_back(
        what.first == 1
            ? what.second + " was measured on its peers but never on this host"
            : fmt::format(
                  "{} metrics were measured on its peers but never on this host, including {}",
                  what.first, what.second));
  }
}

constexpr const char* kAddHosts = "add hosts of this kind, or pass a profile (--profile)";

/// Why a metric of a host is open, where that is alike for many: said once, not by metric.
std::string shared_reason(const FleetRow& row, const FleetSettings& settings) {
  if (row.alone)
    return fmt::format("on too few hosts of its kind, peer comparison needs {} -> {}", kFewestPeers,
                       kAddHosts);
  if (row.gate == "coverage")
    return fmt::format("measured fewer than {} times -> measure again (benchctl nightly)",
                       settings.fewest_runs);
  if (row.gate == "expired")
    return fmt::format("last measured more than {:g} days ago -> measure again (benchctl nightly)",
                       settings.valid_days);
  return "";
}

std::string reason_of_row(const FleetRow& row) {
  return (row.device == "host" ? "" : row.device + ": ") + row.text +
         (row.next_step.empty() ? "" : " -> " + row.next_step);
}

void add_reasons(const std::vector<FleetRow>& rows, const FleetSettings& settings,
                 HostReports& hosts) {
  std::vector<const FleetRow*> sorted;
  for (const FleetRow& row : rows)
    if (row.verdict != Verdict::pass && !row.unresolved && !row.rare) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, [](const FleetRow* a, const FleetRow* b) {
    if (weight(a->verdict) != weight(b->verdict)) return weight(a->verdict) < weight(b->verdict);
    return std::fmax(a->loss, a->golden_loss) > std::fmax(b->loss, b->golden_loss);
  });
  std::map<std::pair<std::string, std::string>, std::vector<const FleetRow*>> shared;
  for (const FleetRow* row : sorted)
    if (const std::string why = shared_reason(*row, settings); !why.empty())
      shared[{row->host, why}].push_back(row);
    else
      hosts[row->host].reasons.push_back(reason_of_row(*row));
  for (const auto& [key, of_host] : shared) {
    const auto& [host, why] = key;
    const bool one = of_host.size() == 1 && !of_host.front()->alone;
    hosts[host].reasons.push_back(
        one ? reason_of_row(*of_host.front())
            : fmt::format("{} metric{} {}", of_host.size(), of_host.size() == 1 ? "" : "s", why));
  }
}

/// A host whose every metric is hidden by noise or measured too rarely is open, though none of them
/// says so.
void add_all_open(FleetHostReport& host, const FleetSettings& settings) {
  if (host.passed + host.failed + host.inconclusive > 0) return;
  if (host.rare > 0)
    host.reasons.push_back(
        fmt::format("{} metric{} measured fewer than {} times -> measure again (benchctl nightly)",
                    host.rare, host.rare == 1 ? "" : "s", settings.fewest_runs));
  if (host.unresolved > 0)
    host.reasons.push_back(
        fmt::format("none of its metrics is resolved ({} measured) -> measure it while it is idle",
                    host.unresolved));
}

Verdict verdict_of(const FleetHostReport& host) {
  if (host.failed > 0) return Verdict::fail;
  return host.inconclusive > 0 || host.passed == 0 ? Verdict::inconclusive : Verdict::pass;
}

}  // namespace

std::vector<FleetHostReport> host_reports(const std::vector<FleetGroup>& groups,
                                          const std::vector<FleetRow>& rows,
                                          const FleetSettings& settings,
                                          const Incidents& incidents) {
  HostReports hosts;
  for (const FleetRow& row : rows) add_row(row, settings, hosts);
  add_reasons(rows, settings, hosts);
  add_missing(groups, hosts);
  for (const auto& [name, days] : incidents) {
    hosts[name].host = name;
    hosts[name].incidents = days;
  }
  std::vector<FleetHostReport> reports;
  for (auto& [name, host] : hosts) {
    add_all_open(host, settings);
    host.verdict = verdict_of(host);
    reports.push_back(std::move(host));
  }
  find_repeat_failures(reports);
  std::ranges::stable_sort(reports, {}, [](const FleetHostReport& host) {
    return std::pair(weight(host.verdict), !host.repeat_failures);
  });
  return reports;
}

namespace {

bool is_valid(const FleetMember& member, const FleetSettings& settings) {
  return !member.values.empty() &&
         static_cast<double>(settings.now_ns - member.values.back().time_ns) <=
             settings.valid_days * kDayNs;
}

FleetRow row_of(const FleetGroup& group, const FleetMember& member) {
  FleetRow row{group.series, member.host, member.device, member.values.size()};
  std::vector<double> values;
  for (const FleetValue& value : member.values) values.push_back(value.value);
  row.value = median(values);
  row.last_ns = member.values.empty() ? 0 : member.values.back().time_ns;
  return row;
}

void end(FleetRow& row, Verdict verdict, const std::string& gate, std::string text,
         std::string next_step = "") {
  row.verdict = verdict;
  row.gate = gate;
  row.text = std::move(text);
  row.next_step = std::move(next_step);
}

std::string against_peers(const FleetGroup& group, const FleetRow& row) {
  return fmt::format("{}: {}, {} than the median of its {} peers ({}; z {:.1f})",
                     metric_title(group.about.key), format(row.value, group.about.unit),
                     loss_text(row.loss), group.peers.hosts.size() - 1,
                     format(row.expected, group.about.unit), row.z);
}

bool fails_golden(const FleetGroup& group, const FleetSettings& settings, FleetRow& row) {
  if (group.criterion == nullptr) return false;
  row.golden_loss = loss(row.value, group.criterion->centre, group.about.better);
  const GoldenTest test{group.about.threshold, kGoldenShare * settings.level, group.golden_tests};
  if (!is_below_golden(*group.criterion, test, row.golden_loss, row.half)) return false;
  end(row, Verdict::fail, "golden",
      fmt::format("{}: {}, {} than the profile ({}); allowed: {}", metric_title(group.about.key),
                  format(row.value, group.about.unit), loss_text(row.golden_loss),
                  format(group.criterion->centre, group.about.unit),
                  share_text(golden_allowed(*group.criterion, group.about.threshold))));
  return true;
}

bool fails_peers(const FleetGroup& group, std::size_t i, FleetRow& row) {
  if (!(row.loss > group.about.threshold) ||
      !stands_out(group.peers.scores, i, row.loss, group.peers.chance[i], group.peers_level))
    return false;
  end(row, Verdict::fail, "peers",
      against_peers(group, row) + fmt::format("; allowed: {}", share_text(group.about.threshold)));
  return true;
}

bool fails_scatter(const FleetGroup& group, const FleetSettings& settings, std::size_t i,
                   FleetRow& row) {
  const Compared& peers = group.peers;
  if (peers.scatter_chance.empty() ||
      peers.scatter_chance[i] > kRepeatabilityShare * settings.level)
    return false;
  const double own = peers.noise.of_host[i];
  if (!(own >= group.about.threshold)) return false;
  end(row, Verdict::fail, "repeatability",
      fmt::format("{}: run-to-run variation {}, peers {}", metric_title(group.about.key),
                  share_text(own), share_text(peers.noise.fleet)));
  return true;
}

/// Advice for an interval too wide for `room`, the distance of the loss to what is allowed.
std::string advised_runs(const FleetRow& row, double room) {
  constexpr double kMostAdvisedRuns = 50;
  const double runs = std::ceil(static_cast<double>(row.runs) * std::pow(row.half / room, 2));
  if (runs > kMostAdvisedRuns)
    return fmt::format("reduce noise on the host: its uncertainty is {}", share_text(row.half));
  return fmt::format("run again: about {:.0f} runs in total are needed", runs);
}

/// Passes only with enough runs and the whole interval within what is allowed.
void judge_interval(const FleetGroup& group, const FleetSettings& settings, FleetRow& row) {
  const bool has_peers = group.peers.hosts.size() >= kFewestPeers;
  const double lost = has_peers ? row.loss : row.golden_loss;
  const double allowed =
      has_peers ? group.about.threshold : golden_allowed(*group.criterion, group.about.threshold);
  if (row.runs < settings.fewest_runs)
    return end(row, Verdict::inconclusive, "coverage",
               fmt::format("{}: {} of {} required runs", metric_title(group.about.key), row.runs,
                           settings.fewest_runs),
               "run it again");
  if (!std::isfinite(row.half) || lost + row.half <= allowed)
    return end(row, Verdict::pass, has_peers ? "peers" : "golden", "");
  row.unresolved = is_noise(lost, row.half, allowed, has_peers ? group.about.visible : kNoValue);
  const double room = allowed - lost;
  std::string next_step = "decide by hand: the loss is at the threshold";
  if (room > 0.0)
    next_step = advised_runs(row, room);
  else if (lost - row.half > allowed)
    next_step = kAddHosts;
  end(row, Verdict::inconclusive, has_peers ? "peers" : "golden",
      fmt::format("{}: {}; uncertainty +-{}, tolerance {}", metric_title(group.about.key),
                  loss_text(lost), share_text(row.half), share_text(allowed)),
      next_step);
}

FleetRow judge_member(const FleetGroup& group, const FleetSettings& settings, std::size_t i) {
  FleetRow row = row_of(group, group.members[group.placed[i]]);
  const Compared& peers = group.peers;
  row.half = peers.noise.half[i];
  if (peers.hosts.size() >= kFewestPeers) {
    row.expected = peers.scores.median;
    row.loss = loss(row.value, row.expected, group.about.better);
    row.z = peers.scores.z[i];
    if (fails_golden(group, settings, row) || fails_peers(group, i, row) ||
        fails_scatter(group, settings, i, row))
      return row;
  } else if (group.criterion == nullptr) {
    end(row, Verdict::inconclusive, "peers",
        fmt::format("{}: {} of this kind, peer comparison needs {}", metric_title(group.about.key),
                    peers.hosts.size(), kFewestPeers),
        kAddHosts);
    row.alone = true;
    return row;
  } else if (fails_golden(group, settings, row)) {
    return row;
  }
  judge_interval(group, settings, row);
  return row;
}

MetricRuns observed(const FleetGroup& group) {
  MetricRuns runs;
  runs.metric = group.about.key.metric;
  runs.unit = group.about.unit;
  runs.better = group.about.better;
  runs.threshold = group.about.threshold;
  for (const std::size_t i : group.placed) {
    auto& seen = runs.by_hosts[{std::to_string(i)}];
    for (const FleetValue& value : group.members[i].values) {
      Observation one;
      one.value = value.value;
      one.usable = true;
      seen.push_back(std::move(one));
    }
  }
  return runs;
}

}  // namespace

std::int64_t day_of(std::int64_t time_ns) {
  return static_cast<std::int64_t>(std::floor(static_cast<double>(time_ns) / kDayNs));
}

void compare(FleetGroup& group, const FleetSettings& settings) {
  Hosts asked;
  for (std::size_t i = 0; i < group.members.size(); ++i)
    if (is_valid(group.members[i], settings)) {
      group.placed.push_back(i);
      asked.push_back(std::to_string(i));
    }
  group.about.hosts = group.members.size();
  if (asked.empty()) return;
  const MetricRuns runs = observed(group);
  group.peers = compared(runs, asked);
  group.peers.metric = nullptr;  // `runs` ends here
  group.peers.owners.clear();
  for (const std::size_t i : group.placed) group.peers.owners.push_back(group.members[i].host);
  group.about.judged = asked.size() >= kFewestPeers || group.criterion != nullptr;
  if (asked.size() < kFewestPeers) return;
  group.about.expected = group.peers.scores.median;
  group.about.noise = group.peers.scores.sigma / group.peers.scores.median;
  group.about.visible = visible_loss(group.peers, group.about.threshold);
}

namespace {

/// Whether fewer than half of the hosts, those with expired values included, have enough runs.
bool rarely_measured(const FleetGroup& group, const FleetSettings& settings) {
  const auto enough = std::ranges::count_if(group.members, [&](const FleetMember& member) {
    return member.values.size() >= settings.fewest_runs;
  });
  return 2 * static_cast<std::size_t>(enough) < group.members.size();
}

}  // namespace

std::vector<FleetRow> judge(const FleetGroup& group, const FleetSettings& settings) {
  std::vector<FleetRow> rows;
  for (std::size_t i = 0; i < group.placed.size(); ++i)
    rows.push_back(judge_member(group, settings, i));
  if (rarely_measured(group, settings))
    for (FleetRow& row : rows) row.rare = row.gate == "coverage";
  for (const FleetMember& member : group.members) {
    if (is_valid(member, settings) || member.values.empty()) continue;
    FleetRow row = row_of(group, member);
    const double age = static_cast<double>(settings.now_ns - row.last_ns) / kDayNs;
    end(row, Verdict::inconclusive, "expired",
        fmt::format("{}: last measured {:.0f} days ago; verdicts expire after {:g}",
                    metric_title(group.about.key), age, settings.valid_days),
        "measure it again");
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bench

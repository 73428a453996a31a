// Combines the rows of a fleet into a report per host.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "results/fleet/fleet_group.h"

namespace bench {
namespace {

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
  host.inconclusive += row.verdict == Verdict::inconclusive ? 1 : 0;
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

void add_reasons(const std::vector<FleetRow>& rows, HostReports& hosts) {
  std::vector<const FleetRow*> sorted;
  for (const FleetRow& row : rows)
    if (row.verdict != Verdict::pass) sorted.push_back(&row);
  std::ranges::stable_sort(sorted, [](const FleetRow* a, const FleetRow* b) {
    if (weight(a->verdict) != weight(b->verdict)) return weight(a->verdict) < weight(b->verdict);
    return std::fmax(a->loss, a->golden_loss) > std::fmax(b->loss, b->golden_loss);
  });
  for (const FleetRow* row : sorted)
    hosts[row->host].reasons.push_back((row->device == "host" ? "" : row->device + ": ") +
                                       row->text +
                                       (row->next_step.empty() ? "" : " -> " + row->next_step));
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
  add_reasons(rows, hosts);
  add_missing(groups, hosts);
  for (const auto& [name, days] : incidents) {
    hosts[name].host = name;
    hosts[name].incidents = days;
  }
  std::vector<FleetHostReport> reports;
  for (auto& [name, host] : hosts) {
    host.verdict = verdict_of(host);
    reports.push_back(std::move(host));
  }
  find_repeat_failures(reports);
  std::ranges::stable_sort(reports, {}, [](const FleetHostReport& host) {
    return std::pair(weight(host.verdict), !host.repeat_failures);
  });
  return reports;
}

}  // namespace bench

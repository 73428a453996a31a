#include "results/verdicts/regression/regression.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/names.h"
#include "results/run/conclusion.h"
#include "results/verdicts/regression/decisions.h"
#include "results/verdicts/regression/peer_group.h"

namespace bench {
namespace {

constexpr NameTable<FindingScope, 2> kScopes{
    {{{FindingScope::fleet, "fleet"}, {FindingScope::host, "host"}}}};
constexpr NameTable<ChangeKind, 4> kChangeKinds{{{{ChangeKind::newest, "newest"},
                                                  {ChangeKind::step, "step"},
                                                  {ChangeKind::drift, "drift"},
                                                  {ChangeKind::exact, "exact"}}}};
constexpr NameTable<HistoryVerdict, 3> kVerdicts{{{{HistoryVerdict::regressed, "regressed"},
                                                   {HistoryVerdict::improved, "improved"},
                                                   {HistoryVerdict::changed, "changed"}}}};
constexpr NameTable<FindingState, 4> kStates{{{{FindingState::open, "open"},
                                               {FindingState::acked, "acked"},
                                               {FindingState::fixed, "fixed"},
                                               {FindingState::noise, "noise"}}}};

/// Maximum number of fleet members whose configurations are compared.
constexpr std::size_t kMostCompared = 40;

/// Facts that changed for at least half of the members compared, by name.
std::vector<FactChange> common_changes(const Histories& histories, const Candidate& candidate) {
  std::map<std::vector<std::string>, std::size_t> seen;
  const std::size_t compared = std::min(candidate.configurations.size(), kMostCompared);
  for (std::size_t i = 0; i < compared; ++i) {
    const auto& [before, after] = candidate.configurations[i];
    for (const FactChange& change :
         changes(histories.configuration(before), histories.configuration(after)))
      ++seen[{change.fact, change.before, change.after}];
  }
  std::vector<FactChange> result;
  const std::size_t enough = (std::min(candidate.members, compared) + 1) / 2;
  for (const auto& [change, times] : seen)
    if (times >= enough) result.push_back({change[0], change[1], change[2]});
  return result;
}

void name_run(const Histories& histories, RunPlace& place) {
  if (place.number <= 0) return;
  const RunRow row = histories.run(place.number);
  place.id = row.id;
  place.time_ns = row.time_ns;
}

/// With the times of the runs that they name, which findings are matched by.
std::vector<Decision> dated(const Histories& histories, std::vector<Decision> decisions) {
  if (decisions.empty()) return decisions;
  std::map<std::string, std::int64_t> times;
  for (const std::int64_t number : histories.runs({})) {
    const RunRow row = histories.run(number);
    times[row.id] = row.time_ns;
  }
  for (Decision& decision : decisions)
    if (const auto found = times.find(decision.run); found != times.end())
      decision.since_ns = found->second;
  return decisions;
}

/// Hosts are filtered here, after judging, so that a host keeps its peers.
bool is_selected(const ChangeFinding& finding, const std::vector<std::string>& hosts) {
  return hosts.empty() || std::ranges::find(hosts, finding.key.host) != hosts.end();
}

/// Failing findings first, then open ones, then by effect in thresholds.
void sort_findings(std::vector<ChangeFinding>& findings) {
  const auto weight = [](const ChangeFinding& finding) {
    const double size = std::abs(finding.effect) / std::max(finding.threshold, 1e-12);
    return std::tuple(!finding.fails(), finding.state != FindingState::open,
                      finding.scope != FindingScope::fleet, -size);
  };
  std::ranges::stable_sort(findings, [&](const ChangeFinding& a, const ChangeFinding& b) {
    return weight(a) < weight(b);
  });
}

}  // namespace

std::string_view to_string(FindingScope scope) { return kScopes.name(scope); }
std::string_view to_string(ChangeKind kind) { return kChangeKinds.name(kind); }
std::string_view to_string(HistoryVerdict verdict) { return kVerdicts.name(verdict); }
std::string_view to_string(FindingState state) { return kStates.name(state); }

RegressionReport regression_report(const Histories& histories, const RegressionOptions& options) {
  RegressionReport report;
  Tally tally;
  each_group(histories, options,
             [&](const std::vector<Member>& members) { judge(members, options, tally); });
  for (Candidate& candidate : accepted(std::move(tally), options, report)) {
    ChangeFinding& finding = candidate.finding;
    if (!is_selected(finding, options.selection.hosts)) continue;
    finding.facts = common_changes(histories, candidate);
    for (RunPlace* place :
         {&finding.since, &finding.since_low, &finding.since_high, &finding.until})
      name_run(histories, *place);
    report.findings.push_back(std::move(finding));
  }
  name_run(histories, report.newest);
  decide(report.findings, dated(histories, options.decisions));
  sort_findings(report.findings);
  const auto failed = std::ranges::count_if(report.findings, &ChangeFinding::fails);
  report.exit_code =
      Conclusion{.passed = report.tested, .failed = static_cast<std::size_t>(failed)}.exit_code();
  return report;
}

}  // namespace bench

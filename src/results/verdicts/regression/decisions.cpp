#include "results/verdicts/regression/decisions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kIdDigits = 8;
constexpr std::size_t kSlack = 3;  // values

bool is_id(std::string_view text) {
  return text.size() == kIdDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

constexpr std::pair<JournalKind, FindingState> kDecisionKinds[] = {
    {JournalKind::acked, FindingState::acked},
    {JournalKind::fixed, FindingState::fixed},
    {JournalKind::noise, FindingState::noise},
    {JournalKind::reopen, FindingState::open}};

std::optional<FindingState> state_of(JournalKind kind) {
  for (const auto& [decided, state] : kDecisionKinds)
    if (decided == kind) return state;
  return {};
}

JournalKind kind_of(FindingState state) {
  return std::ranges::find(kDecisionKinds, state, &std::pair<JournalKind, FindingState>::second)
      ->first;
}

/// First and last time that can belong to the same change.
std::pair<std::int64_t, std::int64_t> times_of(const ChangeFinding& finding) {
  std::int64_t low = finding.since_low.time_ns, high = finding.since_high.time_ns;
  const auto& points = finding.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].run == finding.since_low.number) low = points[i - std::min(i, kSlack)].time_ns;
    if (points[i].run == finding.since_high.number)
      high = points[std::min(i + kSlack, points.size() - 1)].time_ns;
  }
  return {low, high};
}

bool about(const Decision& decision, const ChangeFinding& finding) {
  if (decision.finding != finding.id) return false;
  if (decision.run == finding.since.id) return true;
  const auto [low, high] = times_of(finding);
  return decision.since_ns >= low && decision.since_ns <= high;
}

}  // namespace

std::vector<Decision> decisions_of(const Journal& journal) {
  std::vector<Decision> decisions;
  for (const JournalEntry& entry : journal.entries) {
    const auto state = state_of(entry.kind);
    const std::string id = entry.text.substr(0, kIdDigits);
    if (!state || !is_id(id)) continue;
    std::string text = entry.text.substr(kIdDigits);
    text.erase(0, text.find_first_not_of(": "));
    decisions.push_back({id, entry.run, 0, *state, entry.time_ns, entry.user, text});
  }
  return decisions;
}

JournalEntry entry_of(const Decision& decision) {
  if (!is_id(decision.finding))
    throw Error(ErrorKind::input, "unknown finding ID '" + printable(decision.finding) + "'",
                "use the eight hexadecimal digits at the end of a finding's line");
  return {0,
          decision.time_ns,
          decision.user,
          kind_of(decision.state),
          decision.run,
          decision.finding + ": " + decision.text};
}

void decide(std::vector<ChangeFinding>& findings, const std::vector<Decision>& decisions) {
  for (ChangeFinding& finding : findings)
    for (const Decision& decision : decisions) {
      if (!about(decision, finding)) continue;
      finding.decision = decision;
      finding.state = decision.state;
      const bool measured_since =
          !finding.points.empty() && finding.points.back().time_ns > decision.time_ns;
      if (decision.state == FindingState::fixed && measured_since && finding.until.number == 0)
        finding.state = FindingState::open;
    }
}

std::vector<const ChangeFinding*> findings_named(const std::vector<ChangeFinding>& findings,
                                                 const std::string& id) {
  std::vector<const ChangeFinding*> named;
  std::vector<std::string> ids;
  for (const ChangeFinding& finding : findings) {
    ids.push_back(finding.id);
    if (!id.empty() && finding.id.starts_with(id)) named.push_back(&finding);
  }
  if (named.empty())
    throw Error(ErrorKind::input, "no finding '" + printable(id) + "'." + did_you_mean(id, ids),
                ids.empty() ? "the report has no findings" : "finding IDs: " + join(ids, ", "));
  return named;
}

}  // namespace bench

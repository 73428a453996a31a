#include "mlperf/rules/rule_set_choice.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/text.h"
#include "core/time.h"

namespace bench::mlperf {
namespace {

/// "2025-10-07"; "" if the log has no valid timestamp.
std::string day_of(const Log& log) {
  const LogEntry* entry = first_entry(log, "run_start");
  if (entry == nullptr && !log.entries.empty()) entry = &log.entries.front();
  constexpr double kLast = 9.2e12;  // the range of 64-bit nanoseconds
  if (entry == nullptr || !(entry->time_ms > 0.0 && entry->time_ms < kLast)) return "";
  constexpr std::size_t kDayLength = 10;
  constexpr double kNanoseconds = 1e6;
  return format_time(static_cast<std::int64_t>(entry->time_ms * kNanoseconds))
      .substr(0, kDayLength);
}

/// `reason`, and that a run of this day may have rules that are not known here.
RuleSetChoice chosen_for(const std::string& day, const RuleSet& rules, std::string reason) {
  if (!rules.checker.empty() && day > rules.checker.date)
    reason += "; the run is newer than these rules, which are those of " + rules.checker.text();
  return {rules.version, std::move(reason)};
}

}  // namespace

RuleSetChoice choose_only(const Log& log, const RuleSet& rules, std::string reason) {
  return chosen_for(day_of(log), rules, std::move(reason));
}

RuleSetChoice choose_rule_set(const Log& log, const std::vector<RuleSet>& known) {
  const std::string day = day_of(log);
  const LogEntry* named = first_entry(log, "submission_benchmark");
  const std::string benchmark(named == nullptr ? "" : named->value.text());
  std::vector<const RuleSet*> fitting;
  for (const RuleSet& rules : known)
    if (rules.benchmarks.contains(benchmark)) fitting.push_back(&rules);
  std::string reason = fmt::format("{} is in {} rule sets", benchmark, fitting.size());
  if (fitting.empty()) {
    reason = benchmark.empty()
                 ? "the log has no submission_benchmark"
                 : fmt::format("no rule set has the benchmark '{}'", printable(benchmark));
    for (const RuleSet& rules : known) fitting.push_back(&rules);
  } else if (fitting.size() == 1) {
    return chosen_for(day, *fitting[0],
                      fmt::format("{} is in {} only", benchmark, fitting[0]->round));
  }
  const RuleSet* chosen = fitting.back();
  if (!day.empty())
    for (auto rules = fitting.rbegin(); rules != fitting.rend(); ++rules)
      if ((*rules)->until.empty() || day <= (*rules)->until) chosen = *rules;
  const std::string time = day.empty() ? "no timestamp is logged" : "the run started on " + day;
  return chosen_for(day, *chosen, fmt::format("{}; {}: {}", reason, time, chosen->round));
}

}  // namespace bench::mlperf

#include "results/mlperf/rules/section_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/mlperf/rules/collection.h"
#include "results/mlperf/rules/line_findings.h"

namespace bench::mlperf {
namespace {

/// The official checker prints the state with each failed test and crashes on these values: complex
/// numbers, and integers with more digits than Python converts to a string.
bool is_unprintable(const Operand& value) {
  constexpr std::size_t kMostDigits = 4300;
  if (value.kind != Operand::Kind::big) return value.kind == Operand::Kind::complex;
  return value.big->digits().size() - (value.big->negative() ? 1 : 0) > kMostDigits;
}

bool is_submission_key(const std::string& key) {
  return key.find("submission_") != std::string::npos;
}

}  // namespace

std::vector<std::string> SectionCheck::run() {
  const std::vector<LogEntry> collected =
      section_.collection ? collected_lines(lines_, *section_.collection) : std::vector<LogEntry>();
  failures_.withdraw([&](const std::string& key) { return section_.keys.contains(key); });
  for (const LogEntry& line : lines_) check_line(line);
  for (const LogEntry& line : collected) check_line(line);
  for (const auto& [key, rule] : section_.keys) {
    require_some(key, rule);
    count(key, rule);
    require_either(key, rule);
  }
  return following_;
}

void SectionCheck::check_line(const LogEntry& line) {
  const auto rule = section_.keys.find(line.key);
  if (rule != section_.keys.end()) test_line(rule->second, line);
}

void SectionCheck::test_line(const KeyRule& rule, const LogEntry& line) {
  Seen& seen = seen_[line.key];
  seen.lines.push_back(&line);
  const bool is_first = seen.lines.size() == 1;
  if (is_first || !is_submission_key(line.key)) {
    for (const LineTest& one : rule.tests) test(one, rule, line, "check");
    if (!rule.continues.empty()) continue_with(rule, line);
    assign(rule, line);
  }
  if (is_first)
    for (const LineTest& one : rule.first) test(one, rule, line, "first");
  if (rule.some) seen.some = holds_some(rule, line) || seen.some;
}

void SectionCheck::test(const LineTest& test, const KeyRule& rule, const LogEntry& line,
                        const std::string& kind) {
  const Scope scope = scope_of(line);
  std::string reason;
  try {
    if (truth(test.test.evaluate(scope))) return;
  } catch (const EvaluationError& error) {
    reason = error.what();
  }
  const bool unprintable = std::any_of(state_.begin(), state_.end(), [](const auto& value) {
    return value && is_unprintable(*value);
  });
  Finding finding = failed_test(test, scope, line, reason);
  finding.rule = kind + "." + line.key;
  finding.where = rule.where;
  if (unprintable)
    throw OfficialCrash(
        crash_at(line, finding.expected, "a test fails and the checker cannot print its state"));
  failures_.add(std::move(finding), true);
}

bool SectionCheck::holds_some(const KeyRule& rule, const LogEntry& line) const try {
  return truth(rule.some->test.evaluate(scope_of(line)));
} catch (const EvaluationError& error) {
  throw OfficialCrash(crash_at(line, expected_words(rule.some->test, scope_of(line)), error.what()));
}

void SectionCheck::assign(const KeyRule& rule, const LogEntry& line) {
  for (const Assignment& assignment : rule.after) try {
      state_[assignment.slot] = assignment.value.evaluate(scope_of(line));
    } catch (const EvaluationError& error) {
      failures_.add(failed_assignment(assignment.value, section_.state_names[assignment.slot],
                                      rule.where, line, error.what()),
                    true);
      return;  // the remaining assignments are skipped too
    }
}

void SectionCheck::continue_with(const KeyRule& rule, const LogEntry& line) {
  // The value becomes part of a section name, so it must be a string without '/'.
  const std::string_view value = line.value.text();
  if (!line.value.is_string() || value.find('/') != std::string_view::npos)
    throw OfficialCrash(crash_at(line, "a value with rules", "the rule set has no rules for this value"));
  std::string name = rule.continues;
  const std::string_view hole = "{value}";
  if (const auto place = name.find(hole); place != std::string::npos)
    name.replace(place, hole.size(), value);
  following_.push_back(std::move(name));
}

const std::vector<const LogEntry*>& SectionCheck::lines_of(const std::string& key) const {
  static const std::vector<const LogEntry*> none;
  const auto seen = seen_.find(key);
  return seen == seen_.end() ? none : seen->second.lines;
}

void SectionCheck::count(const std::string& key, const KeyRule& rule) {
  const std::vector<const LogEntry*>& lines = lines_of(key);
  if (lines.size() < rule.at_least)
    failures_.add(missing_lines(key, rule.at_least, lines.size(), rule.where), true);
  if (!rule.exactly_one || lines.size() == 1) return;
  if (lines.empty()) return failures_.add(missing_lines(key, 1, 0, rule.where), true);
  const auto other = std::find_if(lines.begin(), lines.end(), [&](const LogEntry* line) {
    return !same(line->value, lines[0]->value);
  });
  Finding finding = repeated_lines(lines, rule.where, other == lines.end() ? nullptr : *other);
  if (other == lines.end())
    failures_.warn(std::move(finding));
  else
    failures_.add(std::move(finding), true);
}

void SectionCheck::require_some(const std::string& key, const KeyRule& rule) {
  const std::vector<const LogEntry*>& lines = lines_of(key);
  if (!rule.some || lines.empty() || seen_.at(key).some) return;
  failures_.add(no_line_satisfies(*rule.some, rule.where, lines, scope_of(*lines.back())), false);
}

void SectionCheck::require_either(const std::string& key, const KeyRule& rule) {
  if (rule.or_key.empty() || !lines_of(key).empty() || !lines_of(rule.or_key).empty()) return;
  // The rule may be mutual: report it once.
  const auto other = section_.keys.find(rule.or_key);
  const bool mutual = other != section_.keys.end() && other->second.or_key == key;
  if (mutual && rule.or_key < key) return;
  failures_.add(missing_either(key, rule.or_key, rule.where), false);
}

}  // namespace bench::mlperf

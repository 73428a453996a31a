#include "mlperf/rules/official_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text.h"
#include "mlperf/finding.h"
#include "mlperf/log/log.h"
#include "mlperf/log/python_json.h"
#include "mlperf/rules/line_findings.h"
#include "mlperf/rules/operand.h"
#include "mlperf/rules/rule_set.h"

namespace bench::mlperf {
namespace {

/// The official checker ends with a traceback at this point.
struct OfficialCrash : std::runtime_error {
  explicit OfficialCrash(Finding finding)
      : std::runtime_error(finding.text), found(std::move(finding)) {}
  Finding found;
};

/// The failures of a log so far. A later section with rules for a key withdraws the earlier
/// failures for that key: this is how the official checker lets a benchmark replace a common rule.
class Failures {
 public:
  explicit Failures(bool werror) : werror_(werror) {}

  /// `keyed`: a later section with its key withdraws it.
  void add(Finding finding, bool keyed) {
    finding.official = true;
    findings_.emplace_back(std::move(finding), keyed);
  }
  void warn(Finding finding) {
    if (werror_) return add(std::move(finding), true);
    finding.official = true;
    finding.severity = Severity::warning;
    warnings_.push_back(std::move(finding));
  }
  /// Withdraws the failures of keys that this section has rules for.
  void withdraw(const Section& section) {
    std::erase_if(findings_, [&](const auto& one) {
      return one.second && section.keys.contains(one.first.key);
    });
  }

  std::vector<Finding> findings() const {
    std::vector<Finding> all;
    for (const auto& [finding, keyed] : findings_) all.push_back(finding);
    return all;
  }
  const std::vector<Finding>& warnings() const { return warnings_; }

 private:
  bool werror_;
  std::vector<std::pair<Finding, bool>> findings_ = {};
  std::vector<Finding> warnings_ = {};
};

/// Applies one section of a rule set to all lines of a log: one pass of the official checker.
class SectionCheck {
 public:
  /// Borrows all three.
  SectionCheck(const Section& section, const std::vector<LogEntry>& lines, Failures& failures)
      : section_(section), lines_(lines), failures_(failures), state_(section.begin) {}

  /// Adds the failures and returns the names of the sections that follow. Throws OfficialCrash.
  std::vector<std::string> run();

 private:
  /// The lines seen for one key.
  struct Seen {
    std::vector<const LogEntry*> lines = {};
    bool some = false;  // one of them satisfied `some`
  };

  void check_line(const LogEntry& line);
  void test_line(const KeyRule& rule, const LogEntry& line);
  void test(const LineTest& test, const KeyRule& rule, const LogEntry& line,
            const std::string& kind);
  bool holds_some(const KeyRule& rule, const LogEntry& line) const;
  void assign(const KeyRule& rule, const LogEntry& line);
  void continue_with(const KeyRule& rule, const LogEntry& line);
  void count(const std::string& key, const KeyRule& rule);
  void require_some(const std::string& key, const KeyRule& rule);
  void require_either(const std::string& key, const KeyRule& rule);
  const std::vector<const LogEntry*>& lines_of(const std::string& key) const;

  Scope scope_of(const LogEntry& line) const {
    return {&line.value, &line.metadata, line.time_ms, &state_};
  }

  const Section& section_;
  const std::vector<LogEntry>& lines_;
  Failures& failures_;
  State state_;
  std::unordered_map<std::string, Seen> seen_ = {};
  std::vector<std::string> following_ = {};
};

// Lines that a section derives from several others before checking.

[[noreturn]] void refuse_line(const LogEntry& line, const Collection& collection,
                              const std::string& why) {
  throw OfficialCrash(
      {.rule = "crash." + collection.into,
       .line = line.line,
       .column = line.column,
       .key = line.key,
       .expected = fmt::format("{} and {} in the metadata", collection.name, collection.by),
       .found = line.metadata.excerpt(),
       .text = fmt::format("The official checker crashes on this line: {}.", why)});
}

/// A Python dict key, which cannot be mutable.
const PythonValue& hashable_member(const LogEntry& line, const Collection& collection,
                                   const std::string& name) {
  const PythonValue* found = line.metadata.find(name);
  if (found == nullptr) refuse_line(line, collection, fmt::format("its metadata lacks '{}'", name));
  if (found->is_list() || found->is_dict())
    refuse_line(line, collection, fmt::format("'{}' is a {}", name, found->type_name()));
  return *found;
}

bool has_name(const LogEntry& line, const Collection& collection) try {
  return contains(Operand(line.metadata), Operand(std::string_view(collection.name)));
} catch (const EvaluationError&) {
  refuse_line(line, collection, fmt::format("its metadata is a {}", line.metadata.type_name()));
}

void set_member(PythonValue::Dict& dict, std::string_view key, const PythonValue& value) {
  for (auto& [name, known] : dict)
    if (name == key) {
      known = value;
      return;
    }
  dict.emplace_back(key, value);
}

/// The values collected for one value of `by`.
struct Collected {
  PythonValue by;
  LogEntry line;
  PythonValue::Dict values;
};

/// Throws OfficialCrash if a line lacks the key to collect by.
std::vector<LogEntry> collected_lines(const std::vector<LogEntry>& lines,
                                      const Collection& collection) {
  std::vector<Collected> all;
  for (const LogEntry& line : lines) {
    if (line.key != collection.from || !has_name(line, collection)) continue;
    const PythonValue& by = hashable_member(line, collection, collection.by);
    auto known = std::find_if(all.begin(), all.end(),
                              [&](const Collected& one) { return same(one.by, by); });
    if (known == all.end()) {
      all.push_back({by, line, {}});
      known = std::prev(all.end());
      set_member(known->values, collection.by, by);
    }
    known->line.time_ms = std::max(known->line.time_ms, line.time_ms);
    const PythonValue& name = hashable_member(line, collection, collection.name);
    if (name.is_string()) set_member(known->values, name.text(), line.value);
  }
  std::vector<LogEntry> collected;
  for (Collected& one : all) {
    one.line.key = collection.into;
    one.line.value = PythonValue(std::move(one.values));
    one.line.metadata = PythonValue(PythonValue::Dict{});
    collected.push_back(std::move(one.line));
  }
  return collected;
}

/// The official checker prints the state with each failed test and crashes on these values: complex
/// numbers, and integers with more digits than Python converts to a string.
bool is_unprintable(const Operand& value) {
  if (value.kind != Operand::Kind::big) return value.kind == Operand::Kind::complex;
  return value.big->digits().size() - (value.big->negative() ? 1 : 0) > kMostDigits;
}

bool is_submission_key(const std::string& key) {
  return key.find("submission_") != std::string::npos;
}

std::vector<std::string> SectionCheck::run() {
  const std::vector<LogEntry> collected =
      section_.collection ? collected_lines(lines_, *section_.collection) : std::vector<LogEntry>();
  failures_.withdraw(section_);
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
  throw OfficialCrash(
      crash_at(line, expected_words(rule.some->test, scope_of(line)), error.what()));
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
    throw OfficialCrash(
        crash_at(line, "a value with rules", "the rule set has no rules for this value"));
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

Finding unreadable_line(const InvalidLine& invalid) {
  const bool crash = invalid.kind == LineError::crash;
  return {
      .rule = crash ? "crash.line" : "parse.line",
      .official = true,
      .line = invalid.line,
      .column = invalid.column,
      .expected = "one JSON object with time_ms, event_type, key, value and metadata",
      .found = invalid.text,
      .text = fmt::format("This line {}: {}.",
                          crash ? "crashes the official checker" : "cannot be read", invalid.text)};
}

/// For a division or benchmark without rules, the official checker opens a missing file.
Finding unknown_section(const Log& log, const RuleSet& rules, const std::string& section) {
  const bool division = section.find('/') == std::string::npos;
  const LogEntry* line =
      first_entry(log, division ? "submission_division" : "submission_benchmark");
  Finding finding{.rule = division ? "crash.submission_division" : "crash.submission_benchmark",
                  .official = true};
  std::vector<std::string> known = {"closed", "open"};
  if (!division) {
    known.clear();
    for (const auto& [name, benchmark] : rules.benchmarks) known.push_back(name);
  }
  finding.expected = "one of " + join(known, ", ");
  if (line == nullptr) return finding;
  finding.line = line->line;
  finding.column = line->column;
  finding.key = line->key;
  finding.found = line->value.excerpt();
  finding.text =
      fmt::format("{} is {}, for which rule set {} has no rules: the official checker crashes.{}",
                  line->key, finding.found, rules.version, did_you_mean(line->value.text(), known));
  return finding;
}

/// Runs the common section and all sections it leads to. Throws OfficialCrash.
void run_sections(const Log& log, const RuleSet& rules, Failures& failures) {
  std::deque<std::string> waiting = {"common"};
  std::set<std::string> done;
  for (; !waiting.empty(); waiting.pop_front()) {
    const auto section = rules.sections.find(waiting.front());
    // A repeated section would repeat forever.
    if (section == rules.sections.end() || !done.insert(waiting.front()).second)
      throw OfficialCrash(unknown_section(log, rules, waiting.front()));
    for (std::string& name : SectionCheck(section->second, log.entries, failures).run())
      waiting.push_back(std::move(name));
  }
}

}  // namespace

OfficialVerdict official_check(const Log& log, const RuleSet& rules, bool werror) {
  Failures failures(werror);
  OfficialVerdict verdict;
  for (const InvalidLine& invalid : log.invalid_lines) {
    verdict.crash = verdict.crash || invalid.kind == LineError::crash;
    failures.add(unreadable_line(invalid), false);
  }
  if (log.mllog_lines == static_cast<std::int64_t>(log.invalid_lines.size()))
    failures.add({.rule = "parse.empty",
                  .expected = "lines with :::MLLOG",
                  .found = "none",
                  .text = "The file contains no MLLOG lines."},
                 false);
  try {
    run_sections(log, rules, failures);
  } catch (const OfficialCrash& crash) {
    verdict.crash = true;
    failures.add(crash.found, false);
  }
  verdict.findings = failures.findings();
  verdict.warnings = failures.warnings();
  verdict.pass = verdict.findings.empty();
  sort_findings(verdict.findings);
  sort_findings(verdict.warnings);
  return verdict;
}

}  // namespace bench::mlperf

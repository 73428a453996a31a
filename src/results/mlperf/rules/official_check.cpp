#include "results/mlperf/rules/official_check.h"

#include <fmt/format.h>

#include <deque>
#include <set>

#include "core/text.h"
#include "results/mlperf/rules/section_check.h"

namespace bench::mlperf {
namespace {

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
  if (!verdict.pass) verdict.first_failed = verdict.findings.front().key;
  return verdict;
}

}  // namespace bench::mlperf

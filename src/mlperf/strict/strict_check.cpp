#include "mlperf/strict/strict_check.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace bench::mlperf {
namespace {

/// Limits the output for a log that is wrong on every line.
constexpr int kMaxFindingsPerRule = 20;

std::vector<Finding> without_repeats(std::vector<Finding> findings) {
  std::map<std::string, int> counts;
  for (const Finding& finding : findings) ++counts[finding.rule];
  std::map<std::string, int> kept;
  std::vector<Finding> result;
  for (Finding& finding : findings) {
    const int number = ++kept[finding.rule], of = counts[finding.rule];
    if (number > kMaxFindingsPerRule) continue;
    if (number == kMaxFindingsPerRule && of > number)
      finding.text += fmt::format(" (and {} more for this rule in this log)", of - number);
    result.push_back(std::move(finding));
  }
  return result;
}

void check_empty(const Subject& subject, std::vector<Finding>& findings) {
  if (subject.log.mllog_lines > 0) return;
  add_finding(
      findings, nullptr, "log.empty", Severity::error,
      {"lines with ':::MLLOG '",
       fmt::format("{} lines, {} bytes, no MLLOG line", subject.log.lines, subject.log.bytes),
       "the file has no MLLOG lines: pass result_*.txt or the log that has them"});
}

}  // namespace

const Benchmark* Subject::benchmark() const {
  const auto at = rules.benchmarks.find(facts.benchmark);
  return at == rules.benchmarks.end() ? nullptr : &at->second;
}

void add_finding(std::vector<Finding>& findings, const LogEntry* entry, std::string_view rule,
                 Severity severity, const Statement& statement) {
  Finding& finding =
      findings.emplace_back(Finding{.rule = std::string(rule), .severity = severity});
  finding.expected = statement.expected;
  finding.found = statement.found;
  finding.text = statement.text;
  finding.where = statement.where;
  if (entry == nullptr) return;
  finding.line = entry->line;
  finding.column = entry->column;
  finding.key = entry->key;
}

std::string number_text(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) return fmt::format("{:.0f}", number);
  return fmt::format("{}", number);
}

std::vector<Finding> strict_check(const Subject& subject) {
  std::vector<Finding> findings;
  check_empty(subject, findings);
  check_run(subject, findings);
  check_values(subject, findings);
  check_identity(subject, findings);
  check_batch(subject, findings);
  check_hyperparameters(subject, findings);
  check_stop(subject, findings);
  check_schedule(subject, findings);
  check_run_seeds(subject, findings);
  sort_findings(findings);
  return without_repeats(std::move(findings));
}

const std::vector<StrictRule>& strict_rules() {
  static const std::vector<StrictRule> rules = {
      {"batch.factors", "The global batch is the product of its factors."},
      {"copy.log", "No two logs are the same file, byte for byte."},
      {"folder.empty", "A benchmark folder contains result_*.txt."},
      {"hyperparameter.fixed", "Hyperparameters fixed by the rules have the required value."},
      {"identity.benchmark", "The benchmark in a log matches its folder's name."},
      {"identity.division", "The division in a log is that of its system description."},
      {"identity.order", "submission_benchmark is logged before the first evaluation."},
      {"identity.organisation", "The organisation in a log matches its folder's name."},
      {"log.empty", "A log contains MLLOG lines."},
      {"runs.count", "A result has the number of runs that its benchmark requires."},
      {"runs.hyperparameters", "All runs of a result have the same hyperparameters."},
      {"runs.overlap", "Runs on one system do not overlap in time."},
      {"scaling.file", "scaling.json contains the scaling factor computed from the logs."},
      {"schedule.evaluation", "Evaluations follow the schedule in the rules."},
      {"schedule.samples_count", "An evaluation logs the sample count at which it ran."},
      {"seed.missing", "A closed-division run logs its seed."},
      {"seed.repeated", "No two runs of a result log the same seed on the same line of code."},
      {"seed.several", "A run logs a single seed."},
      {"seed.type", "A seed is an integer."},
      {"status.run_stop", "The status of run_stop is success."},
      {"stop.evaluation", "At least one evaluation is logged before run_stop."},
      {"stop.late", "A run stops at the first evaluation that reaches the target."},
      {"stop.target", "The last evaluation before run_stop reaches the target."},
      {"stop.time", "run_stop is not timestamped before the evaluation that reached the target."},
      {"time.evaluation", "Evaluations have timestamps between run_start and run_stop."},
      {"time.finite", "Timestamps are finite numbers."},
      {"time.order", "Initialisation, run_start and run_stop have timestamps in this order."},
      {"time.unit", "Timestamps are in milliseconds since 1970."},
      {"value.event_type", "The event type is one of the three that MLPerf defines."},
      {"value.finite", "Values are finite numbers."},
      {"value.placeholder", "Placeholders in submission_* keys have been replaced."},
      {"value.position", "samples_count and epoch_num of an evaluation are numbers."},
      {"value.status", "submission_status is onprem, cloud or research."},
      {"value.type", "Each value has the type that its key requires."},
  };
  return rules;
}

}  // namespace bench::mlperf

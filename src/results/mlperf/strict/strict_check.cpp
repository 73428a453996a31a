#include "results/mlperf/strict/strict_check.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace bench::mlperf {
namespace {

/// A log that is wrong in each line needs not say so for each.
constexpr int kFindingsOfARule = 20;

std::vector<Finding> without_repeats(std::vector<Finding> findings) {
  std::map<std::string, int> counts;
  for (const Finding& finding : findings) ++counts[finding.rule];
  std::map<std::string, int> kept;
  std::vector<Finding> result;
  for (Finding& finding : findings) {
    const int number = ++kept[finding.rule], of = counts[finding.rule];
    if (number > kFindingsOfARule) continue;
    if (number == kFindingsOfARule && of > number)
      finding.text += fmt::format(" (and {} more of this rule in this log)", of - number);
    result.push_back(std::move(finding));
  }
  return result;
}

void check_empty(const Subject& subject, std::vector<Finding>& findings) {
  if (subject.log.mllog_lines > 0) return;
  Finding finding = finding_of_log("log.empty", Severity::error);
  finding.expected = "lines with ':::MLLOG '";
  finding.found = fmt::format("{} lines, {} bytes, none of them MLPerf's", subject.log.lines,
                              subject.log.bytes);
  finding.text = "this is no log of MLPerf: name result_*.txt, or the log that has these lines";
  findings.push_back(finding);
}

}  // namespace

const Benchmark* Subject::benchmark() const {
  const auto at = rules.benchmarks.find(facts.benchmark);
  return at == rules.benchmarks.end() ? nullptr : &at->second;
}

Finding finding_at(const LogEntry& entry, std::string_view rule, Severity severity) {
  return {.rule = std::string(rule),
          .severity = severity,
          .line = entry.line,
          .column = entry.column,
          .key = entry.key};
}

Finding finding_of_log(std::string_view rule, Severity severity) {
  return {.rule = std::string(rule), .severity = severity};
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
      {"folder.empty", "A folder of a benchmark holds result_*.txt."},
      {"hyperparameter.fixed", "Hyperparameters that the rules fix have their value."},
      {"identity.benchmark", "A log is of the benchmark that its folder is named after."},
      {"identity.organisation", "A log names the organisation that its folder is named after."},
      {"log.empty", "A log has lines of MLPerf."},
      {"runs.count", "A result has the number of runs that its benchmark takes."},
      {"runs.hyperparameters", "The runs of a result have the same hyperparameters."},
      {"runs.overlap", "Runs that overlap in time on one system are told."},
      {"scaling.file", "scaling.json holds the factor that the logs give."},
      {"schedule.evaluation", "Evaluations stand where the rules put them."},
      {"schedule.samples_count", "An evaluation has the count of samples at which it was made."},
      {"seed.missing", "A run of the closed division logs its seed."},
      {"seed.repeated", "No two runs of a result log the same seed on the same line of code."},
      {"seed.several", "One seed is enough for a run."},
      {"seed.type", "A seed is an integer."},
      {"status.run_stop", "A run ends with the status success."},
      {"stop.evaluation", "An evaluation stands above run_stop."},
      {"stop.late", "A run that goes on after the target was reached is told."},
      {"stop.target", "The last evaluation before run_stop reaches the target."},
      {"stop.time", "The clock does not stop before the evaluation that reached the target."},
      {"time.evaluation", "Evaluations are timed between run_start and run_stop."},
      {"time.finite", "Times are finite numbers."},
      {"time.order", "A run starts after it was initialised, and stops after it started."},
      {"time.unit", "Times are in milliseconds since 1970."},
      {"value.event_type", "Event types are MLPerf's three."},
      {"value.finite", "Values are finite numbers."},
      {"value.placeholder", "What a submitter must fill in is filled in."},
      {"value.position", "An evaluation says by numbers how far the training was."},
      {"value.status", "The submission's status is onprem, cloud or research."},
      {"value.type", "Values have the type that their key asks for."},
  };
  return rules;
}

}  // namespace bench::mlperf

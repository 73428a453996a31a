#include "results/mlperf/score/read_runs.h"

#include <algorithm>
#include <filesystem>

#include "results/mlperf/rules/official_check.h"
#include "results/mlperf/rules/rule_set_choice.h"
#include "results/mlperf/submission/possible_rounds.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

double launch_of(const Log& log, const RunFacts& facts) {
  if (facts.init_start_ms) return *facts.init_start_ms;
  if (facts.run_start_ms) return *facts.run_start_ms;
  return log.entries.empty() ? kNoValue : log.entries.front().time_ms;
}

std::string failure_text(const OfficialVerdict& verdict) {
  if (verdict.pass || verdict.findings.empty())
    return verdict.pass ? "" : "the log fails the official check";
  const Finding& first = verdict.findings.front();
  const std::string place = first.line > 0 ? "line " + std::to_string(first.line) + ": " : "";
  return place + first.text;
}

ReadRun read_run(const Log& log, const RuleSet& rules, std::string reason) {
  ReadRun run{.file = log.path, .facts = facts_of(log)};
  run.launch_ms = launch_of(log, run.facts);
  run.ruleset = rules.version;
  run.ruleset_reason = std::move(reason);
  const auto benchmark = rules.benchmarks.find(run.facts.benchmark);
  if (benchmark != rules.benchmarks.end())
    run.required_runs = static_cast<std::int64_t>(benchmark->second.runs);
  const OfficialVerdict verdict = official_check(log, rules);
  run.compliant = verdict.pass;
  run.failed = failure_text(verdict);
  run.facts.evaluations = {};  // large and no longer needed; last_before_stop remains
  return run;
}

std::vector<fs::path> all_logs(const Submission& submission) {
  std::vector<fs::path> logs;
  for (const SubmissionEntry& entry : submission.entries)
    logs.insert(logs.end(), entry.logs.begin(), entry.logs.end());
  logs.insert(logs.end(), submission.loose.begin(), submission.loose.end());
  return logs;
}

RuleSetChoice only_choice(const RuleSet& rules, const std::string& ruleset) {
  return {rules.version, ruleset == "auto"
                             ? "the only round with all benchmarks in these folders: " + rules.round
                             : "selected by --ruleset"};
}

RuleSetChoice newest_round(const std::vector<ReadRun>& runs, const std::vector<RuleSet>& known) {
  for (auto rules = known.rbegin(); rules != known.rend(); ++rules)
    if (std::ranges::find(runs, rules->version, &ReadRun::ruleset) != runs.end())
      return {rules->version, "the newest round among these logs: " + rules->round};
  return {};
}

}  // namespace

std::vector<ReadRun> read_runs(const Submission& submission, const std::string& ruleset) {
  const std::vector<fs::path> paths = all_logs(submission);
  const std::vector<RuleSet> known = possible_rounds(submission, rule_set_folder(), ruleset);
  std::vector<ReadRun> runs(paths.size());
  const auto read = [&](std::size_t index, const Log& log, const RuleSetChoice& choice) {
    const auto rules = std::ranges::find(known, choice.version, &RuleSet::version);
    runs[index] = read_run(log, *rules, choice.reason);
    runs[index].file = paths[index];
  };
  read_logs(paths, [&](std::size_t index, const Log& log) {
    read(index, log,
         known.size() == 1 ? only_choice(known.front(), ruleset) : choose_rule_set(log, known));
  });
  const RuleSetChoice round = newest_round(runs, known);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].ruleset != round.version) read(i, read_log(paths[i]), round);
  return runs;
}

}  // namespace bench::mlperf

// stop.*: the run ends with the evaluation that reached the target.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

constexpr std::string_view kWhereStop = "training_rules: Quality measure, Run Results";

const LogEntry* entry_at(const Log& log, std::int64_t line, std::string_view key) {
  const auto at = std::ranges::find_if(
      log.entries, [&](const LogEntry& entry) { return entry.line == line && entry.key == key; });
  return at == log.entries.end() ? nullptr : &*at;
}

/// NaN reaches no target. The official checker handles targets that must be exceeded.
bool reaches_target(const Benchmark& benchmark, double quality) {
  return benchmark.lower_is_better ? quality <= *benchmark.target : quality >= *benchmark.target;
}

bool same_point(const Evaluation& a, const Evaluation& b) {
  return a.samples_count == b.samples_count && a.epoch_num == b.epoch_num;
}

/// Every rank may log the evaluation; one that reached the target is enough.
bool point_reaches_target(const RunFacts& facts, const Evaluation& point,
                          const Benchmark& benchmark) {
  return std::ranges::any_of(facts.evaluations, [&](const Evaluation& one) {
    return same_point(one, point) && reaches_target(benchmark, one.value.number());
  });
}

/// The first evaluation that reached the target.
const Evaluation* first_reaching_target(const RunFacts& facts, const Benchmark& benchmark) {
  const auto at = std::ranges::find_if(facts.evaluations, [&](const Evaluation& one) {
    return reaches_target(benchmark, one.value.number());
  });
  return at == facts.evaluations.end() ? nullptr : &*at;
}

std::string point_text(const Evaluation& evaluation) {
  if (evaluation.samples_count) return number_text(*evaluation.samples_count) + " samples";
  if (evaluation.epoch_num) return "epoch " + number_text(*evaluation.epoch_num);
  return fmt::format("line {}", evaluation.line);
}

/// False if the run ended without reaching the target, reported or not.
bool check_last(const Subject& subject, const Benchmark& benchmark, const LogEntry& stop,
                const Evaluation& last, std::vector<Finding>& findings) {
  const LogEntry* entry = entry_at(subject.log, last.line, last.key);
  const std::string expected = fmt::format(
      "a quality of at {} {}", benchmark.lower_is_better ? "most" : "least", *benchmark.target);
  if (!point_reaches_target(subject.facts, last, benchmark)) {
    // If no evaluation reached it, the official checker reports that.
    const Evaluation* met = first_reaching_target(subject.facts, benchmark);
    if (met == nullptr) return false;
    add_finding(
        findings, entry == nullptr ? &stop : entry, "stop.target", Severity::error,
        {expected, last.value.excerpt(),
         fmt::format("the last evaluation before run_stop, at {}, misses the target that the "
                     "one in line {} ({}) reached: log run_stop right after the evaluation that "
                     "reached it",
                     point_text(last), met->line, point_text(*met)),
         kWhereStop});
    return false;
  }
  const auto& [start_ms, stop_ms] =
      std::pair(subject.facts.run_start_ms, subject.facts.run_stop_ms);
  if (start_ms && stop_ms && *stop_ms > *start_ms && *stop_ms < last.time_ms) {
    add_finding(
        findings, &stop, "stop.time", Severity::warning,
        {fmt::format("at or after {:.0f} ms, the time of line {}", last.time_ms, last.line),
         fmt::format("{:.0f} ms", *stop_ms),
         "the timestamp of run_stop is before the evaluation that reached the target", kWhereStop});
  }
  return true;
}

void check_late(const Subject& subject, const Benchmark& benchmark, const LogEntry& stop,
                const Evaluation& last, std::vector<Finding>& findings) {
  const Evaluation* met = first_reaching_target(subject.facts, benchmark);
  if (met == nullptr || same_point(*met, last) || met->line >= last.line) return;
  add_finding(findings, &stop, "stop.late", Severity::note,
              {fmt::format("after line {}, {}", met->line, point_text(*met)),
               fmt::format("after line {}, {}", last.line, point_text(last)),
               "the run could have stopped earlier: an earlier evaluation reached the "
               "target",
               kWhereStop});
}

}  // namespace

void check_stop(const Subject& subject, std::vector<Finding>& findings) {
  const LogEntry* stop = last_entry(subject.log, "run_stop");
  const Benchmark* benchmark = subject.benchmark();
  if (stop == nullptr || benchmark == nullptr || !benchmark->target || !subject.closed() ||
      subject.facts.status != "success")
    return;
  const std::optional<Evaluation>& last = subject.facts.last_before_stop;
  if (last) {
    if (check_last(subject, *benchmark, *stop, *last, findings))
      check_late(subject, *benchmark, *stop, *last, findings);
    return;
  }
  if (subject.facts.evaluations.empty()) return;  // the official checker requires one
  add_finding(findings, stop, "stop.evaluation", Severity::error,
              {"an evaluation before run_stop",
               fmt::format("the first one in line {}", subject.facts.evaluations.front().line),
               "no evaluation is logged before run_stop: log run_stop after the "
               "evaluation that reached the target",
               kWhereStop});
}

}  // namespace bench::mlperf

// status.*, time.*
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/text.h"
#include "mlperf/strict/subject.h"

namespace bench::mlperf {
namespace {

constexpr std::string_view kWhereTimes = "training_rules: Run Results";
/// Plausible range: the years 2001 to 2100.
constexpr double kEarliestMs = 1e12, kLatestMs = 4.1e12;
/// Tolerance for buffered output and clock differences between hosts.
constexpr double kSkewMs = 1000;

void check_status(const Subject& subject, std::vector<Finding>& findings) {
  for (const LogEntry& entry : subject.log.entries) {
    if (entry.key != "run_stop") continue;
    const PythonValue* status = entry.metadata.find("status");
    if (status == nullptr || status->text() == "success") continue;
    add_finding(findings, &entry, "status.run_stop", Severity::error,
                {"'success'", status->excerpt(),
                 status->text() == "aborted"
                     ? "the run was aborted: it counts as not converged, and a result may contain "
                       "one such run"
                     : "the status of run_stop must be success or aborted",
                 "training_rules: Benchmark Results"});
    return;
  }
}

/// `before` and `after` are keys. Comparing the earliest `before` with the latest `after` tolerates
/// several ranks that log the same keys in any order.
void check_order(const Subject& subject, std::string_view before, std::string_view after,
                 std::vector<Finding>& findings) {
  double earliest = INFINITY, latest = -INFINITY;
  const LogEntry* last = nullptr;
  for (const LogEntry& entry : subject.log.entries) {
    if (entry.key == before) earliest = std::fmin(earliest, entry.time_ms);
    if (entry.key == after && entry.time_ms > latest) {
      latest = entry.time_ms;
      last = &entry;
    }
  }
  const bool run = before == "run_start";
  if (last == nullptr || std::isinf(earliest) || (run ? latest > earliest : latest >= earliest))
    return;
  add_finding(
      findings, last, "time.order", Severity::error,
      {fmt::format("a time {} that of {}, {:.0f} ms", run ? "after" : "not before", before,
                   earliest),
       fmt::format("{:.0f} ms", latest),
       run ? fmt::format("the run took {:.3f} minutes by its own timestamps: check the clock",
                         (latest - earliest) / 60000)
           : fmt::format("{} has an earlier timestamp than {}: take both from the same clock",
                         after, before),
       kWhereTimes});
}

bool timed(std::string_view key) {
  return key == "run_start" || key == "run_stop" || key == "init_start" || key == "init_stop" ||
         key == "eval_accuracy";
}

void check_times(const Subject& subject, std::vector<Finding>& findings) {
  bool unit_reported = false;
  for (const LogEntry& entry : subject.log.entries) {
    const bool finite = std::isfinite(entry.time_ms);
    if (finite && (!timed(entry.key) || unit_reported ||
                   (entry.time_ms >= kEarliestMs && entry.time_ms <= kLatestMs)))
      continue;
    add_finding(
        findings, &entry, finite ? "time.unit" : "time.finite",
        finite ? Severity::warning : Severity::error,
        {finite ? "milliseconds since 1970" : "a finite time_ms",
         finite ? number_text(entry.time_ms) : fmt::format("{}", entry.time_ms),
         finite ? "the timestamp is not plausible as milliseconds since 1970: check the unit "
                  "and the epoch of the clock"
                : "time_ms must be a finite number of milliseconds"});
    unit_reported = unit_reported || finite;
  }
}

void check_evaluation_times(const Subject& subject, std::vector<Finding>& findings) {
  const auto& [start, stop] = std::pair(subject.facts.run_start_ms, subject.facts.run_stop_ms);
  if (!start || !stop || !(*stop > *start)) return;
  for (const LogEntry& entry : subject.log.entries) {
    if (entry.key != "eval_accuracy") continue;
    const bool early = entry.time_ms<*start - kSkewMs, late = entry.time_ms> * stop + kSkewMs;
    if (!early && !late) continue;
    add_finding(findings, &entry, "time.evaluation", Severity::warning,
                {fmt::format("between {:.0f} and {:.0f} ms", *start, *stop),
                 fmt::format("{:.0f} ms", entry.time_ms),
                 early ? "the timestamp of the evaluation is before run_start"
                       : "the timestamp of the evaluation is after run_stop: evaluations are part "
                         "of the timed run",
                 kWhereTimes});
    return;
  }
}

}  // namespace

void check_run(const Subject& subject, std::vector<Finding>& findings) {
  check_status(subject, findings);
  check_order(subject, "init_start", "init_stop", findings);
  check_order(subject, "init_stop", "run_start", findings);
  check_order(subject, "run_start", "run_stop", findings);
  check_times(subject, findings);
  check_evaluation_times(subject, findings);
}

}  // namespace bench::mlperf

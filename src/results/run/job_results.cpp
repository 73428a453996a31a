#include "results/run/job_results.h"

#include <fmt/format.h>

#include <map>

#include "core/json_fields.h"
#include "core/text.h"

namespace bench {
namespace {

struct Trace {
  bool any = false;
  const Outcome* outcome = nullptr;
  bool could_not_run = false;  // could not run for an external reason
  bool prevented = false;      // by the state of the machine
  Json faults = Json::array();
  std::map<std::string, std::string> out = {};
};

std::map<std::string, Trace> traces(const RunRecords& run) {
  std::map<std::string, Trace> found;
  for (const Record& record : run.records) {
    Trace& trace = found[record.job];
    trace.any = true;
    if (const auto* outcome = std::get_if<Outcome>(&record.body))
      trace.outcome = outcome, trace.could_not_run = false;
    const auto* event = std::get_if<Event>(&record.body);
    if (event == nullptr) continue;
    trace.could_not_run |= event->key == kNotRunEvent;
    trace.prevented |= event->key == kPreventedEvent;
    if (!event->value.is_object()) continue;
    if (event->key == "device_fault") trace.faults.push_back(event->value);
    if (event->key == kHostOutEvent)
      trace.out.emplace(text_field(event->value, "host"), text_field(event->value, "why"));
  }
  return found;
}

JobResult job_result(const PlannedJob& job, const Trace& trace) {
  JobResult result{job, Status::skipped, job.skipped, 0.0, false, trace.faults, trace.out};
  const bool could_not_run = trace.could_not_run || trace.prevented;
  if (trace.outcome != nullptr) {
    result.outcome = trace.outcome->status;
    result.reason = trace.outcome->reason;
    result.seconds = trace.outcome->seconds;
    result.not_run = could_not_run && result.outcome == Status::skipped;
  } else if (trace.any) {
    result.outcome = Status::failed;
    result.reason = "no outcome: benchctl exited before this job finished";
  } else if (job.skipped.empty()) {
    result.reason = "not run";
    result.not_run = true;
  }
  return result;
}

}  // namespace

std::vector<JobResult> job_results(const RunRecords& run) {
  const auto by_job = traces(run);
  std::vector<JobResult> results;
  results.reserve(run.jobs.size());
  for (const PlannedJob& job : run.jobs) {
    const auto found = by_job.find(job.id);
    results.push_back(job_result(job, found == by_job.end() ? Trace{} : found->second));
  }
  return results;
}

std::string unclean_text(const JobResult& job) {
  constexpr std::size_t kNamed = 3;
  if (job.disturbed) return "no clean samples";
  if (job.unclean.size() <= kNamed)
    return job.unclean.empty() ? "" : "no clean samples of " + join(job.unclean, ", ");
  const auto end = job.unclean.begin() + kNamed;
  return fmt::format("no clean samples of {} and {} more", join({job.unclean.begin(), end}, ", "),
                     job.unclean.size() - kNamed);
}

}  // namespace bench

// A run's observations: one for each case and length of step, repeats put together.
#include <algorithm>

#include "results/diagnosis/diagnosis.h"
#include "results/diagnosis/observers.h"
#include "results/diagnosis/run_view.h"

namespace bench::diagnosis {
namespace {

std::vector<Observation> observe_job(const RunView& view, std::size_t job) {
  const JobResult& result = view.jobs()[job];
  if (result.outcome != Status::ok && result.outcome != Status::invalid) return {};
  if (result.job.probe == "data_loader") return observe_loader(view, job);
  if (result.job.probe == "checkpoint") return observe_checkpoint(view, job);
  return observe_training(view, job);
}

bool same(const Observation& one, const Observation& other) {
  return one.subject == other.subject && one.case_name == other.case_name &&
         one.what == other.what && one.on_gpu == other.on_gpu;
}

/// Runs of tens of thousands of other jobs need not be looked through.
bool has_diagnosable_jobs(const RunRecords& run) {
  return std::ranges::any_of(run.jobs, [](const PlannedJob& job) {
    return job.probe == "training" || job.probe == "external" || job.probe == "data_loader" ||
           job.probe == "checkpoint";
  });
}

}  // namespace

std::vector<Observation> observe(const RunRecords& run) {
  if (!has_diagnosable_jobs(run)) return {};
  const RunView view(run);
  std::vector<std::vector<Observation>> groups;
  for (std::size_t job = 0; job < view.jobs().size(); ++job)
    for (Observation& one : observe_job(view, job)) {
      one.case_name = view.jobs()[job].job.case_name;
      one.jobs = {view.jobs()[job].job.id};
      const auto group = std::ranges::find_if(
          groups, [&](const auto& repeats) { return same(repeats.front(), one); });
      if (group == groups.end())
        groups.push_back({std::move(one)});
      else
        group->push_back(std::move(one));
    }
  std::vector<Observation> all;
  for (const auto& repeats : groups) all.push_back(combined(repeats));
  return all;
}

}  // namespace bench::diagnosis

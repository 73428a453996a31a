// Jobs of a run that do the same on different hosts, with the search jobs on parts of them: the
// jobs compared when one fails or is slow.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/run/job_results.h"
#include "results/run/series.h"

namespace bench {

struct RunSummary;

struct JobFamily {
  const PlannedJob* one = nullptr;                // a job of the run itself
  std::vector<const JobResult*> jobs = {};        // on whole hosts
  std::vector<const JobResult*> on_devices = {};  // search jobs on some GPUs of their hosts
  /// For single-host jobs: jobs of the run that do the same on other hosts.
  std::vector<const JobResult*> elsewhere = {};
};

/// Families of jobs of several hosts, or of several GPUs of one host (one family per host).
std::vector<JobFamily> job_families(const RunSummary& report);

/// Ranks per host; 0 if the hosts differ.
int ranks_on_each_host(const PlannedJob& job);

using SeriesOfJob = std::map<std::string, std::vector<const Series*>>;
SeriesOfJob series_by_job(const RunSummary& report);

/// The series of `job` that corresponds to `like` of `like_job`. Parameters of the whole job or of
/// its part may differ. Null for none.
const Series* same_series(const SeriesOfJob& all, const Series& like, const PlannedJob& like_job,
                          const PlannedJob& job);

}  // namespace bench

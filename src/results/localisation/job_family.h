// Jobs of a run that do the same on different hosts, and those with which a search looked at parts
// of them: what is compared when one of them fails or is slow.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/job_results.h"
#include "results/series.h"

namespace bench {

struct RunSummary;

struct JobFamily {
  const PlannedJob* one = nullptr;                // of the run's own jobs
  std::vector<const JobResult*> jobs = {};        // on whole hosts
  std::vector<const JobResult*> on_devices = {};  // of the search, on some GPUs of their hosts
  /// Of jobs of one host: some of the run's own jobs that do the same on other hosts.
  std::vector<const JobResult*> elsewhere = {};
};

/// Of jobs of several hosts, or of several GPUs of one host; of the latter one family a host.
std::vector<JobFamily> job_families(const RunSummary& report);

/// Ranks of each host with a GPU each; 0 where hosts have different numbers of ranks.
int ranks_on_each_host(const PlannedJob& job);

using SeriesOfJob = std::map<std::string, std::vector<const Series*>>;
SeriesOfJob series_by_job(const RunSummary& report);

/// The series of `job` that measures what `like` does; `like_job` is that one's job. Parameters
/// that a job has as a whole, or that say on which part of its hosts it is, may differ. Null for
/// none.
const Series* same_series(const SeriesOfJob& all, const Series& like, const PlannedJob& like_job,
                          const PlannedJob& job);

}  // namespace bench

// A night on a Slurm cluster: one low-priority batch job per idle node, preemptible through the
// partition or QOS in the hosts file. Jobs that have not started in time are cancelled.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/dispatch/execute.h"

namespace bench {

/// Splits the plan in order: one part per host, and one per set of several hosts. Pure.
std::vector<Plan> parts_by_hosts(const Plan& plan);

/// The run request of one part: its batch job yields to others (--nice), with a limit of about
/// three times the expected time plus three minutes. Pure.
RunRequest request_of_part(const RunRequest& night, Plan part);

struct NodeBatches {
  std::vector<std::filesystem::path> runs;  // started runs
  std::vector<std::string> waiting;         // hosts whose job did not start in time
  bool interrupted = false;
};

/// `resume`: as in submit_batch(). Returns when all batch jobs have ended, at `until`, or on
/// interrupt, cancelling the rest and removing folders of unstarted runs. Throws Error(environment)
/// if Slurm rejects the first job.
NodeBatches run_on_nodes(const RunRequest& night, const std::vector<std::string>& resume,
                         Clock::time_point until);

}  // namespace bench

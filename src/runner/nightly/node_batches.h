// A night on a Slurm cluster: a small batch job for each idle node, which Slurm begins when it has
// nothing better for the node, and which a site makes preemptible by the partition or QOS of its
// hosts file. What had not begun when the time is over is cancelled.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/dispatch/execute.h"

namespace bench {

/// The plan in parts, in its order: of each host the jobs that need it alone, and of each set of
/// several hosts theirs. Pure.
std::vector<Plan> parts_by_hosts(const Plan& plan);

/// The same run for one part: its batch job gives way to others (--nice) and has about three times
/// the time that its jobs are expected to take, and three minutes. Pure.
RunRequest request_of_part(const RunRequest& night, Plan part);

struct NodeBatches {
  std::vector<std::filesystem::path> runs;  // those that began
  std::vector<std::string> waiting;         // hosts whose job did not begin in time
  bool interrupted = false;
};

/// `resume`: as submit_batch() takes it. Ends when all batch jobs have, when `until` is reached, or
/// when the user interrupts; the rest is cancelled then. A folder of a run that nobody began is
/// removed. Throws Error(environment) where Slurm does not take the first job.
NodeBatches run_on_nodes(const RunRequest& night, const std::vector<std::string>& resume,
                         Clock::time_point until);

}  // namespace bench

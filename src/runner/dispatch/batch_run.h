// A run as a Slurm batch job: benchctl resume on its first node. The nodes must share the run's
// folder. The submitting process may watch it or exit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/dispatch/execute.h"

namespace bench {

struct BatchJob {
  std::filesystem::path run;  // its folder
  std::string number;         // Slurm's
};

/// Stores the plan, writes batch.sh next to it and submits that. `resume`: the command of the job;
/// the run's name is appended. Throws Error(environment) with sbatch's message; the run is then
/// planned but not started.
BatchJob submit_batch(const RunRequest& request, std::vector<std::string> resume);

/// Shows progress until the job has ended. An interrupt cancels the job and waits for its end; then
/// false. Throws Error(environment) if the job ended without starting the run.
bool watch_batch(const BatchJob& job, const RunRequest& request);

}  // namespace bench

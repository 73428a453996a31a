// A run that goes on as a batch job of Slurm: benchctl resume on its first node, out of the run's
// folder, which the nodes must share. Who submitted it may watch it, or leave.
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

/// Keeps the plan, writes batch.sh beside it and submits that. `resume`: the command that the job
/// is, but for the run's name, which comes last. Throws Error(environment) with what sbatch says;
/// then the run is planned and has not begun.
BatchJob submit_batch(const RunRequest& request, std::vector<std::string> resume);

/// Shows the progress of its records until the job is gone. An interrupt cancels it and waits for
/// its end; false then. Throws Error(environment) where it ended without having begun.
bool watch_batch(const BatchJob& job, const RunRequest& request);

}  // namespace bench

// The srun command for a job's ranks. Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/job.h"
#include "runner/hosts/launch_settings.h"
#include "runner/hosts/slurm_settings.h"
#include "runner/launch/place.h"

namespace bench {

/// Data needed to start a step.
struct SlurmSite {
  std::string srun;  // path; empty if missing
  std::string job;   // ID of the allocation
  SlurmSettings settings = {};
};

/// The command up to the program. `token` marks the ranks but not srun: killing leftover ranks on a
/// host must not kill the srun of other steps.
std::vector<std::string> srun_command(const Job& job, const std::vector<Place>& places,
                                      const SlurmSite& site, const std::string& token);

/// Variables that srun passes to the ranks for Open MPI.
std::map<std::string, std::string> mpi_environment(const std::vector<Place>& places,
                                                   const LaunchSettings& settings);

enum class StepInput { none, ours };

/// A command on one host of the allocation, in parallel with running steps.
std::vector<std::string> step_on_host(const std::string& host, const SlurmSite& site,
                                      StepInput input = StepInput::none);

/// Variables of the current allocation or step: srun would read them as options, and a rank started
/// without srun as its place in a group.
std::vector<std::string> step_variables();

}  // namespace bench

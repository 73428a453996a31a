// The words of srun: a job's ranks as a step of an allocation. Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/job.h"
#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/slurm_settings.h"

namespace bench {

/// What a step is made with.
struct SlurmSite {
  std::string srun;  // its path; empty where there is none
  std::string job;   // the allocation's number
  SlurmSettings settings = {};
};

/// Up to the program, which comes next. `token` marks the ranks, and not srun itself: what clears a
/// host of ranks must leave the steps alone that are served from there.
std::vector<std::string> srun_words(const Job& job, const std::vector<Place>& places,
                                    const SlurmSite& site, const std::string& token);

/// What srun hands on to the ranks for their MPI; OpenMPI reads its parameters there.
std::map<std::string, std::string> mpi_environment(const std::vector<Place>& places,
                                                   const LaunchSettings& settings);

enum class StepInput { none, ours };

/// One command on one host of the allocation, beside whatever runs there.
std::vector<std::string> reach_words(const std::string& host, const SlurmSite& site,
                                     StepInput input = StepInput::none);

/// Of the allocation or step we are in: srun would read them as options, and a rank that is started
/// without srun as its place in a group.
std::vector<std::string> step_variables();

}  // namespace bench

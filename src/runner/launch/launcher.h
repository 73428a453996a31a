// How a job's ranks are started: pure functions from a job to a command line and an environment.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/job.h"
#include "runner/hosts/allocation.h"
#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/process.h"
#include "runner/launch/srun.h"

namespace bench {

enum class LauncherKind { automatic, local, mpirun, slurm };

/// Throws Error(usage) naming what there is.
LauncherKind launcher_from(const std::string& name);

/// What this machine offers to launch with; found once, given to the pure functions.
struct LaunchSite {
  LauncherKind kind = LauncherKind::automatic;
  std::string rank_program;       // bench-rank
  std::string cuda_rank_program;  // bench-rank-cuda; empty when there is none
  std::string mpirun;             // its path; empty when there is none
  bool root = false;              // OpenMPI asks twice before it runs as root
  LaunchSettings settings = {};   // how other hosts are reached
  std::string token = {};         // marks every process of this run, so that what is left is found
  std::string run_folder = {};    // absolute; told to the ranks, for files beside the records
  std::string group_token = {};   // keeps strangers out of ranks that meet over TCP
  SlurmSite slurm = {};
  std::optional<Allocation> allocation = {};           // the one we run in
  std::map<std::string, std::string> nodes_down = {};  // their states, where we make one
};

/// `automatic` becomes slurm inside an allocation of several nodes.
LaunchSite find_launch_site(LauncherKind kind, const std::string& rank_program_option);

/// Why this job cannot be launched here, with what to do; "" when it can.
std::string launch_obstacle(const Job& job, const std::vector<Place>& places,
                            const LaunchSite& site);

/// `places`: where the job's ranks go, in their order.
Command launch_command(const Job& job, const std::vector<Place>& places, const LaunchSite& site);

/// The program the job's ranks run, as it is found on their hosts.
std::string rank_program(const Job& job, const std::vector<Place>& places, const LaunchSite& site);

/// Jobs with equal keys can be served by one process, one after another.
std::string launch_key(const Job& job);

}  // namespace bench

// Builds the command line and environment that start a job's ranks. Pure functions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/job.h"
#include "runner/hosts/allocation.h"
#include "runner/hosts/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/process.h"
#include "runner/launch/secrets.h"
#include "runner/launch/srun.h"

namespace bench {

// Environment of ranks that use the TCP rendezvous because MPI is missing or broken
// (src/devices/tcp/rendezvous.h reads it). Ranks that use MPI ignore it.

/// BENCH_RENDEZVOUS: address of rank 0; the port follows from the group's secret.
/// BENCH_GROUP_TIMEOUT_S: some seconds less than our own limit, so that ranks can still report who
/// is missing. `by_address`: use the addresses of the hosts file instead of host names.
std::map<std::string, std::string> group_environment(const std::vector<Place>& places,
                                                     const LaunchSettings& settings,
                                                     bool by_address);

/// Hands ranks that may meet over TCP a new secret, by the environment of their launcher only: its
/// command line is visible to all users of the host.
void give_group_secret(Command& command, const Job& job);

/// Variables of a group that this process may belong to, which our ranks must not inherit.
std::vector<std::string> group_variables();

enum class LauncherKind { automatic, local, mpirun, slurm };

/// Throws Error(usage) that lists the launchers.
LauncherKind launcher_from(const std::string& name);

/// The launchers available on this machine; found once, passed to the pure functions.
struct LaunchSite {
  LauncherKind kind = LauncherKind::automatic;
  std::string rank_program;       // bench-rank
  std::string cuda_rank_program;  // bench-rank-cuda; empty if missing
  std::string mpirun;             // path; empty if missing
  bool root = false;              // Open MPI needs two confirmations to run as root
  bool mpirun_of_bundle = false;  // mpirun lies next to the rank program, as its daemon does
  LaunchSettings settings = {};   // access to other hosts
  std::string token = {};         // marks every process of this run, to find leftovers
  std::string run_folder = {};    // absolute; passed to ranks for files next to the records
  Secrets secrets = {};           // for the hashes in environments and parameters
  SlurmSite slurm = {};
  std::optional<Allocation> allocation = {};  // the current allocation
  std::map<std::string, std::string> nodes_down =
      {};  // node -> state, if benchctl makes the allocation
};

/// `automatic` becomes slurm inside an allocation of several nodes.
LaunchSite find_launch_site(LauncherKind kind, const std::string& rank_program_option);

/// Why this job cannot be launched here, and what to do; "" if it can.
std::string launch_obstacle(const Job& job, const std::vector<Place>& places,
                            const LaunchSite& site);

/// `places`: hosts of the job's ranks, in rank order.
Command launch_command(const Job& job, const std::vector<Place>& places, const LaunchSite& site);

/// The path of the rank program on the job's hosts.
std::string rank_program(const Job& job, const std::vector<Place>& places, const LaunchSite& site);

/// Jobs with equal keys can run in one process, one after another.
std::string launch_key(const Job& job);

}  // namespace bench

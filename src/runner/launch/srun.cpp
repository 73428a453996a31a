#include "runner/launch/srun.h"

#include <algorithm>

#include "core/hostlist.h"
#include "core/job.h"
#include "core/text.h"
#include "runner/launch/process.h"

namespace bench {
namespace {

/// A node that cannot run the step is an error after this time. Less than LaneSettings::handshake.
constexpr int kStepWaitS = 20;

bool even(const std::vector<Place>& places) {
  return std::ranges::all_of(
      places, [&](const Place& place) { return place.ranks == places.front().ranks; });
}

/// Equal counts use Slurm's node order; unequal counts need a list with one name per rank.
void add_places(std::vector<std::string>& argv, const std::vector<Place>& places, int ranks) {
  std::vector<std::string> names, tasks;
  for (const Place& place : places) {
    names.push_back(place.host);
    tasks.insert(tasks.end(), static_cast<std::size_t>(place.ranks), place.host);
  }
  append(argv, {"--nodes=" + std::to_string(places.size()), "--ntasks=" + std::to_string(ranks)});
  if (even(places))
    append(argv, {"--ntasks-per-node=" + std::to_string(places.front().ranks),
                  "--distribution=block", "--nodelist=" + compact_hostlist(names)});
  else
    append(argv, {"--distribution=arbitrary", "--nodelist=" + join(tasks, ",")});
}

/// benchctl runs one job per host at a time, so a step uses the whole allocation there and never
/// waits: --overlap, all memory, and no --exact.
std::vector<std::string> step_options(const SlurmSite& site) {
  std::vector<std::string> argv = {site.srun,
                                   "--jobid=" + site.job,
                                   "--overlap",
                                   "--mem=0",
                                   "--immediate=" + std::to_string(kStepWaitS),
                                   "--no-kill=off"};
  const SlurmSettings& settings = site.settings;
  if (!settings.gres.empty()) argv.push_back("--gres=" + settings.gres);
  if (!settings.container_image.empty())
    argv.push_back("--container-image=" + settings.container_image);
  if (!settings.container_mounts.empty())
    argv.push_back("--container-mounts=" + join(settings.container_mounts, ","));
  argv.insert(argv.end(), settings.args.begin(), settings.args.end());
  return argv;
}

/// Slurm assigns CPUs to a task, and "threads" binds it to them.
void add_step_binding(std::vector<std::string>& argv, const std::string& binding,
                      const std::vector<Place>& places) {
  if (binding == "share") argv.push_back("--cpus-per-task=" + std::to_string(share_of(places)));
  const std::string bound = binding == "share" ? "thread" : binding;
  argv.push_back("--cpu-bind=" + (bound == "none" ? bound : bound + "s"));  // cores, sockets
}

bool oversubscribed(const std::vector<Place>& places) {
  return std::ranges::any_of(places, [](const Place& place) { return place.ranks > place.slots; });
}

}  // namespace

std::vector<std::string> srun_command(const Job& job, const std::vector<Place>& places,
                                      const SlurmSite& site, const std::string& token) {
  std::vector<std::string> argv = step_options(site);
  add_places(argv, places, job.ranks);
  if (oversubscribed(places)) argv.push_back("--overcommit");
  // A single rank needs no MPI, and also starts without Slurm's MPI plugin.
  argv.push_back("--mpi=" + (job.ranks > 1 ? site.settings.mpi : "none"));
  add_step_binding(argv, job.binding, places);
  // A dead rank would leave the others waiting; a pty (--unbuffered) would alter records; jobs go
  // to rank 0, which broadcasts them.
  append(argv,
         {"--kill-on-bad-exit=1", "--input=0",
          "--export=ALL" + (token.empty() ? "" : "," + std::string(kRunVariable) + "=" + token)});
  return argv;
}

std::map<std::string, std::string> mpi_environment(const std::vector<Place>& places,
                                                   const LaunchSettings& settings) {
  std::map<std::string, std::string> env;
  env["OMPI_MCA_mpi_yield_when_idle"] = oversubscribed(places) ? "1" : "0";
  if (!settings.interfaces.empty()) env["OMPI_MCA_btl_tcp_if_include"] = settings.interfaces;
  for (const auto& [name, value] : settings.mca) env["OMPI_MCA_" + name] = value;
  return env;
}

std::vector<std::string> step_on_host(const std::string& host, const SlurmSite& site,
                                      StepInput input) {
  std::vector<std::string> argv = step_options(site);
  append(argv, {"--nodes=1", "--ntasks=1", "--nodelist=" + host, "--overcommit", "--mpi=none",
                "--cpu-bind=none", input == StepInput::ours ? "--input=0" : "--input=none",
                "--export=ALL"});
  return argv;
}

std::vector<std::string> step_variables() {
  constexpr std::string_view kNames =
      "OMPI_COMM_WORLD_SIZE PMIX_RANK PMI_RANK PMI_SIZE SLURM_ARBITRARY_NODELIST "
      "SLURM_CPUS_PER_GPU SLURM_CPUS_PER_TASK SLURM_CPU_BIND SLURM_CPU_BIND_LIST "
      "SLURM_CPU_BIND_TYPE SLURM_CPU_BIND_VERBOSE SLURM_DISTRIBUTION SLURM_EXACT SLURM_EXCLUSIVE "
      "SLURM_GPUS SLURM_GPUS_PER_SOCKET SLURM_GPUS_PER_TASK SLURM_GPU_BIND SLURM_HINT "
      "SLURM_HOSTFILE SLURM_LABELIO SLURM_MEM_BIND SLURM_MEM_PER_CPU SLURM_MEM_PER_GPU "
      "SLURM_MEM_PER_NODE SLURM_MULTI_PROG SLURM_NPROCS SLURM_NTASKS SLURM_NTASKS_PER_CORE "
      "SLURM_NTASKS_PER_GPU SLURM_NTASKS_PER_NODE SLURM_NTASKS_PER_SOCKET SLURM_NTASKS_PER_TRES "
      "SLURM_OVERCOMMIT SLURM_PROCID SLURM_RELATIVE SLURM_STDERRMODE SLURM_STDINMODE "
      "SLURM_STDOUTMODE SLURM_TASKS_PER_NODE SLURM_THREADS_PER_CORE SLURM_TIMELIMIT "
      "SLURM_TRES_BIND SLURM_TRES_PER_TASK SLURM_UNBUFFEREDIO SLURM_WAIT SRUN_CPUS_PER_TASK";
  const auto names = words_of(kNames);
  return {names.begin(), names.end()};
}

}  // namespace bench

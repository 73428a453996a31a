#include "runner/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "core/locations.h"

namespace bench {
namespace {

bool by_mpirun(const Job& job, const LaunchSite& site) {
  return job.ranks > 1 || site.kind == LauncherKind::mpirun;
}

std::string program_for(const Job& job, const LaunchSite& site) {
  return job.device == "cuda" ? site.cuda_rank_program : site.rank_program;
}

void add(std::vector<std::string>& argv, std::initializer_list<std::string> words) {
  argv.insert(argv.end(), words);
}

/// A share is counted in hardware threads, as slots are: consecutive ones, so whole cores where the
/// number divides.
void add_binding(std::vector<std::string>& argv, const Job& job, int slots) {
  if (job.binding == "none") return add(argv, {"--bind-to", "none"});
  if (job.binding != "share") return add(argv, {"--bind-to", job.binding + ":overload-allowed"});
  const std::string share = std::to_string(std::max(1, slots / job.ranks));
  add(argv, {"--use-hwthread-cpus", "--map-by", "slot:PE=" + share});
  add(argv, {"--bind-to", "hwthread:overload-allowed"});
}

/// OpenMPI 4. All ranks on one host: no start-up daemon is asked for (plm isolated), and pml and
/// btl are named because looking for networks triples the time MPI_Init takes.
std::vector<std::string> mpirun_words(const Job& job, const LaunchSite& site, int slots) {
  const std::string ranks = std::to_string(job.ranks);
  std::vector<std::string> argv = {site.mpirun, "-np", ranks};
  add(argv, {"--mca", "plm", "isolated", "--mca", "pml", "ob1", "--mca", "btl", "vader,self"});
  // mpirun counts cores where we count hardware threads: let it accept our number, and say
  // ourselves whether the ranks have to share CPUs and must yield while they wait.
  add(argv, {"--oversubscribe", "--mca", "mpi_yield_when_idle", job.ranks > slots ? "1" : "0"});
  add_binding(argv, job, slots);
  return argv;
}

}  // namespace

LauncherKind launcher_from(const std::string& name) {
  if (name == "auto") return LauncherKind::automatic;
  if (name == "local") return LauncherKind::local;
  if (name == "mpirun") return LauncherKind::mpirun;
  if (name == "slurm")
    throw Error(
        ErrorKind::usage, "--launcher slurm: this version launches on this host only",
        "use auto, local or mpirun; inside an allocation run benchctl itself under srun -n1");
  throw Error(ErrorKind::usage, "--launcher " + name + ": there is no such launcher",
              "use one of: auto, local, mpirun");
}

LaunchSite find_launch_site(LauncherKind kind, const std::string& rank_program_option) {
  LaunchSite site;
  site.kind = kind;
  site.rank_program = rank_program_option.empty() ? (program_folder() / "bench-rank").string()
                                                  : rank_program_option;
  const auto cuda = program_folder() / "bench-rank-cuda";
  if (std::filesystem::exists(cuda)) site.cuda_rank_program = cuda.string();
  try {
    site.mpirun = find_program("mpirun");
  } catch (const Error&) {  // several ranks are then skipped, with a reason
  }
  site.root = geteuid() == 0;
  return site;
}

std::string launch_obstacle(const Job& job, const LaunchSite& site) {
  if (program_for(job, site).empty())
    return "no CUDA build: there is no bench-rank-cuda beside benchctl";
  if (job.ranks > 1 && site.kind == LauncherKind::local)
    return "--launcher local starts one rank and this job needs " + std::to_string(job.ranks);
  if (by_mpirun(job, site) && site.mpirun.empty())
    return "mpirun is not in PATH; install openmpi-bin";
  return "";
}

Command launch_command(const Job& job, const LaunchSite& site, int slots) {
  Command command;
  command.env = job.env;
  // A user's OMP_PROC_BIND or GOMP_CPU_AFFINITY would tie the rank to one core before its main
  // runs, and "all cores" would silently mean one. The probes pin their threads themselves.
  command.env.emplace("OMP_PROC_BIND", "false");
  if (by_mpirun(job, site)) {
    command.argv = mpirun_words(job, site, slots);
    if (site.root) {
      command.env["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
      command.env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
    }
  }
  command.argv.push_back(program_for(job, site));
  return command;
}

std::string launch_key(const Job& job) {
  return dump(Json{job.device, job.ranks, job.hosts, job.binding, job.env});
}

}  // namespace bench

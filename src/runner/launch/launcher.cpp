#include "runner/launch/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/error.h"
#include "core/job.h"
#include "core/locations.h"
#include "core/secret.h"
#include "core/text.h"
#include "runner/launch/process.h"
#include "runner/launch/program_output.h"

namespace bench {

std::map<std::string, std::string> group_environment(const std::vector<Place>& places,
                                                     const LaunchSettings& settings,
                                                     bool by_address) {
  if (places.empty()) return {};
  const bool all_here = std::ranges::all_of(places, [](const Place& place) { return place.here; });
  const Place& first = places.front();
  const std::string address = first.address.substr(first.address.find('@') + 1);
  std::map<std::string, std::string> env = {
      {"BENCH_RENDEZVOUS", all_here     ? "localhost"
                           : by_address ? address
                                        : first.host},
      {"BENCH_GROUP_TIMEOUT_S", std::to_string(std::max(1, settings.start_timeout_s - 5))}};
  if (!all_here && !settings.interfaces.empty()) env["BENCH_GROUP_INTERFACE"] = settings.interfaces;
  return env;
}

void give_group_secret(Command& command, const Job& job) {
  if (job.ranks > 1) command.env[kGroupSecret] = random_secret();
}

std::vector<std::string> group_variables() {
  constexpr std::string_view kNames =
      "BENCH_GROUP_INTERFACE BENCH_GROUP_SECRET BENCH_GROUP_TIMEOUT_S BENCH_RENDEZVOUS LOCAL_RANK "
      "MASTER_ADDR MASTER_PORT RANK TORCHELASTIC_RUN_ID TORCHELASTIC_USE_AGENT_STORE WORLD_SIZE";
  const auto names = words_of(kNames);
  return {names.begin(), names.end()};
}

namespace {

bool any_remote(const std::vector<Place>& places) {
  return std::ranges::any_of(places, [](const Place& place) { return !place.here; });
}

bool by_mpirun(const Job& job, const std::vector<Place>& places, const LaunchSite& site) {
  if (site.kind == LauncherKind::slurm) return false;
  return job.ranks > 1 || site.kind == LauncherKind::mpirun || any_remote(places);
}

using McaParameters = std::map<std::string, std::string>;

/// For ranks on this host: no daemon (plm isolated), and fixed pml and btl, because network
/// discovery triples the time of MPI_Init.
McaParameters parameters_here() {
  return {{"plm", "isolated"}, {"ras", "^slurm"}, {"pml", "ob1"}, {"btl", "vader,self"}};
}

/// For other hosts: the remote shell starts a daemon on each directly from here, so that failures
/// name the host, and a dead host is noticed within keepalive_s x keepalive_count. Open MPI chooses
/// the network unless the hosts file does.
McaParameters parameters_remote(const LaunchSettings& settings) {
  // Excludes other launchers: the remote shell component is named rsh in Open MPI 4 and ssh in 5.
  McaParameters mca = {{"plm", "^slurm,lsf,tm,alps"},
                       {"plm_rsh_agent", join(agent_command(settings), " ")},
                       {"plm_rsh_no_tree_spawn", "1"},
                       {"ras", "^slurm"},  // use our hosts even inside an allocation
                       {"oob_tcp_keepalive_time", std::to_string(settings.keepalive_s)},
                       {"oob_tcp_keepalive_intvl", std::to_string(settings.keepalive_s)},
                       {"oob_tcp_keepalive_probes", std::to_string(settings.keepalive_count)}};
  if (!settings.interfaces.empty())
    mca["oob_tcp_if_include"] = mca["btl_tcp_if_include"] = settings.interfaces;
  return mca;
}

std::string host_list(const std::vector<Place>& places) {
  std::vector<std::string> words;
  for (const Place& place : places)
    words.push_back(place.address + ":" + std::to_string(place.ranks));
  return join(words, ",");
}

/// A share is a number of consecutive hardware threads, so whole cores if it divides evenly.
void add_rank_binding(std::vector<std::string>& argv, const Job& job,
                      const std::vector<Place>& places) {
  if (job.binding == "none") return append(argv, {"--bind-to", "none"});
  if (job.binding != "share") return append(argv, {"--bind-to", job.binding + ":overload-allowed"});
  append(argv, {"--use-hwthread-cpus", "--map-by", "slot:PE=" + std::to_string(share_of(places))});
  append(argv, {"--bind-to", "hwthread:overload-allowed"});
}

/// A program of the Open MPI that a bundle has next to its rank program (scripts/bundle).
std::filesystem::path mpi_of_bundle(const std::filesystem::path& rank_program, const char* name) {
  return rank_program.parent_path().parent_path() / "mpi" / "bin" / name;
}

/// OpenMPI 4.
std::vector<std::string> mpirun_command(const Job& job, const std::vector<Place>& places,
                                        const LaunchSite& site,
                                        const std::map<std::string, std::string>& env) {
  const bool remote = any_remote(places);
  std::vector<std::string> argv = {site.mpirun, "-np", std::to_string(job.ranks)};
  if (remote) append(argv, {"--host", host_list(places)});
  McaParameters mca = remote ? parameters_remote(site.settings) : parameters_here();
  // mpirun counts cores, we count hardware threads: allow oversubscription, and decide ourselves
  // whether ranks share CPUs and must yield while waiting.
  const bool shared =
      std::ranges::any_of(places, [](const Place& place) { return place.ranks > place.slots; });
  mca["mpi_yield_when_idle"] = shared ? "1" : "0";
  if (remote && site.mpirun_of_bundle)  // hosts may have the bundle elsewhere
    mca["orte_launch_agent"] = mpi_of_bundle(rank_program(job, places, site), "orted").string();
  if (remote)
    for (const auto& [name, value] : site.settings.mca) mca[name] = value;
  for (const auto& [name, value] : mca) append(argv, {"--mca", name, value});
  argv.push_back("--oversubscribe");
  add_rank_binding(argv, job, places);
  // Remote ranks do not inherit our environment. mpirun takes the values from its own, as all users
  // of a host can read its command line; it must not have the run's mark (see launch_command).
  if (remote)
    for (const auto& [name, value] : env)
      append(argv, {"-x", name == kRunVariable ? name + "=" + value : name});
  if (remote && job.ranks > 1) append(argv, {"-x", kGroupSecret});  // see give_group_secret()
  return argv;
}

/// The Open MPI of a bundle needs a newer C library than its other programs.
bool starts(const std::filesystem::path& mpirun) try {
  constexpr Seconds kPatience{10.0};
  if (!std::filesystem::exists(mpirun)) return false;
  program_output({mpirun.string(), "--version"}, kPatience);
  return true;
} catch (const Error&) {
  return false;
}

/// "" if not found: jobs that need it are skipped with a reason.
std::string path_of(const std::string& program) try {
  return find_program(program);
} catch (const Error&) {
  return "";
}

std::string slurm_obstacle(const Job& job, const LaunchSite& site) {
  if (site.slurm.srun.empty()) return "srun is not in PATH; install slurm-client";
  for (const std::string& host : job.hosts)
    if (const auto down = site.nodes_down.find(host); down != site.nodes_down.end())
      return host + " cannot be allocated: its Slurm state is " + down->second;
  return site.allocation ? host_outside(*site.allocation, job.hosts) : "";
}

}  // namespace

LauncherKind launcher_from(const std::string& name) {
  if (name == "auto") return LauncherKind::automatic;
  if (name == "local") return LauncherKind::local;
  if (name == "mpirun") return LauncherKind::mpirun;
  if (name == "slurm") return LauncherKind::slurm;
  throw Error(ErrorKind::usage, "--launcher " + name + ": unknown launcher",
              "use one of: auto, local, mpirun, slurm");
}

LaunchSite find_launch_site(LauncherKind kind, const std::string& rank_program_option) {
  LaunchSite site;
  site.kind = kind;
  site.rank_program = rank_program_option.empty() ? (program_folder() / "bench-rank").string()
                                                  : rank_program_option;
  const auto cuda = program_folder() / "bench-rank-cuda";
  if (std::filesystem::exists(cuda)) site.cuda_rank_program = cuda.string();
  const auto bundled = mpi_of_bundle(site.rank_program, "mpirun");
  site.mpirun_of_bundle = starts(bundled);
  site.mpirun = site.mpirun_of_bundle ? bundled.string() : path_of("mpirun");
  site.slurm.srun = path_of("srun");
  site.root = geteuid() == 0;
  if (kind == LauncherKind::slurm || (kind == LauncherKind::automatic && !site.slurm.srun.empty()))
    site.allocation = current_allocation();
  if (kind == LauncherKind::automatic && site.allocation && site.allocation->nodes.size() > 1)
    site.kind = LauncherKind::slurm;
  return site;
}

std::string rank_program(const Job& job, const std::vector<Place>& places, const LaunchSite& site) {
  const bool cuda = job.device == "cuda";
  const std::string& there = cuda ? site.settings.cuda_rank_program : site.settings.rank_program;
  const bool elsewhere = site.kind == LauncherKind::slurm || any_remote(places);
  const std::string program =
      elsewhere && !there.empty() ? there : (cuda ? site.cuda_rank_program : site.rank_program);
  // The rank program of a bundle runs where MPI cannot.
  const bool needs_mpi = !cuda && job.ranks > 1 && by_mpirun(job, places, site);
  return site.mpirun_of_bundle && needs_mpi ? program + "-mpi" : program;
}

std::string launch_obstacle(const Job& job, const std::vector<Place>& places,
                            const LaunchSite& site) {
  if (rank_program(job, places, site).empty())
    return "no CUDA build: bench-rank-cuda is not installed next to benchctl";
  if (site.kind == LauncherKind::slurm) return slurm_obstacle(job, site);
  if (site.kind == LauncherKind::local && any_remote(places))
    return "--launcher local runs on this host only, but the job needs " + join(job.hosts, ", ");
  if (job.ranks > 1 && site.kind == LauncherKind::local)
    return "--launcher local starts one rank, but the job needs " + std::to_string(job.ranks);
  if (by_mpirun(job, places, site) && site.mpirun.empty())
    return "mpirun is not in PATH; install openmpi-bin";
  for (const Place& place : places)
    if (!place.here && place.address.find(':') != std::string::npos)
      return "mpirun reads a colon in an address as a number of slots: give " + place.address +
             " a name in /etc/hosts or ~/.ssh/config";
  return "";
}

Command launch_command(const Job& job, const std::vector<Place>& places, const LaunchSite& site) {
  Command command;
  std::map<std::string, std::string> env = job.env;
  const bool slurm = site.kind == LauncherKind::slurm;
  if (slurm || any_remote(places))
    for (const auto& [name, value] : site.settings.env) env.emplace(name, value);
  // A user's OMP_PROC_BIND or GOMP_CPU_AFFINITY would bind the rank to one core before main() runs,
  // and "all cores" would silently mean one. The probes pin their threads themselves.
  env.emplace("OMP_PROC_BIND", "false");
  if (!site.run_folder.empty()) env.emplace(kRunFolderVariable, site.run_folder);
  if (slurm) {
    command.argv = srun_command(job, places, site.slurm, site.token);
    if (job.ranks > 1) env.merge(mpi_environment(places, site.settings));
    if (job.ranks > 1) env.merge(group_environment(places, site.settings, false));
  } else if (!site.token.empty()) {
    env.emplace(kRunVariable, site.token);
  }
  if (by_mpirun(job, places, site)) {
    if (job.ranks > 1) env.merge(group_environment(places, site.settings, true));
    command.argv = mpirun_command(job, places, site, env);
    // Remote ranks get the token by -x. mpirun itself must not have it: killing leftover ranks on
    // this host must not kill the mpirun of another job.
    if (any_remote(places)) env.erase(kRunVariable);
    if (site.root) {
      env["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
      env["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
    }
  }
  // Variables of a Slurm step that this process runs in do not belong to the job.
  if (!by_mpirun(job, places, site)) command.unset = step_variables();
  std::ranges::copy(group_variables(), std::back_inserter(command.unset));
  reveal_secrets(env, site.secrets);
  command.env = std::move(env);
  command.argv.push_back(rank_program(job, places, site));
  return command;
}

std::string launch_key(const Job& job) {
  return dump(Json{job.device, job.ranks, job.hosts, job.binding, job.env});
}

}  // namespace bench

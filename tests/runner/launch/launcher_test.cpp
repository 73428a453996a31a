#include "runner/launch/launcher.h"

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "core/text.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

LaunchSite site(LauncherKind kind = LauncherKind::automatic, bool root = false) {
  return {kind, "/x/bench-rank", "/x/bench-rank-cuda", "/usr/bin/mpirun", root};
}

Job job(int ranks, const std::string& binding = "core") {
  Job result;
  result.ranks = ranks;
  result.binding = binding;
  result.hosts = {"here"};
  result.env = {{"A", "1"}};
  return result;
}

std::vector<Place> here(int ranks, int slots = 4) { return {{"here", "here", ranks, slots, true}}; }

std::string words(const Command& command) { return " " + join(command.argv, " ") + " "; }

}  // namespace

TEST_CASE("one rank is a plain fork with the job's environment") {
  const Command command = launch_command(job(1), here(1), site());
  CHECK(command.argv == std::vector<std::string>{"/x/bench-rank"});
  CHECK(command.env == std::map<std::string, std::string>{{"A", "1"}, {"OMP_PROC_BIND", "false"}});
}

TEST_CASE("several ranks are started by mpirun, pinned as asked, over shared memory") {
  const std::string line = words(launch_command(job(4, "socket"), here(4), site()));
  CHECK_THAT(line, Contains("/usr/bin/mpirun -np 4 "));
  CHECK_THAT(line, Contains(" --bind-to socket:overload-allowed "));
  CHECK_THAT(line, Contains(" --mca pml ob1 ") && Contains(" --mca btl vader,self "));
  CHECK_THAT(line, Contains(" --mca mpi_yield_when_idle 0 "));
  CHECK(line.ends_with(" /x/bench-rank "));
}

TEST_CASE("a share is as many slots as there are for each rank") {
  const std::string two = words(launch_command(job(2, "share"), here(2, 16), site()));
  CHECK_THAT(two, Contains(" --use-hwthread-cpus --map-by slot:PE=8 ") &&
                      Contains(" --bind-to hwthread:overload-allowed "));
  CHECK_THAT(words(launch_command(job(3, "share"), here(3, 16), site())), Contains(" slot:PE=5 "));
  CHECK_THAT(words(launch_command(job(4, "share"), here(4, 2), site())), Contains(" slot:PE=1 "));
}

TEST_CASE("more ranks than slots yield while they wait") {
  const std::string line = words(launch_command(job(8, "none"), here(8), site()));
  CHECK_THAT(line, Contains(" --oversubscribe ") && Contains(" --mca mpi_yield_when_idle 1 "));
  CHECK_THAT(line, Contains(" --bind-to none "));
}

TEST_CASE("as root, Open MPI gets both confirmations") {
  const auto env = launch_command(job(2), here(2), site(LauncherKind::automatic, true)).env;
  CHECK(env.at("OMPI_ALLOW_RUN_AS_ROOT") == "1");
  CHECK(env.at("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1");
  CHECK(env.at("A") == "1");
  CHECK_FALSE(launch_command(job(2), here(2), site()).env.contains("OMPI_ALLOW_RUN_AS_ROOT"));
}

TEST_CASE("--launcher mpirun starts even one rank with mpirun") {
  CHECK_THAT(words(launch_command(job(1), here(1), site(LauncherKind::mpirun))),
             Contains("mpirun -np 1 "));
}

TEST_CASE("a cuda job runs bench-rank-cuda") {
  Job cuda = job(1);
  cuda.device = "cuda";
  CHECK(launch_command(cuda, here(1), site()).argv ==
        std::vector<std::string>{"/x/bench-rank-cuda"});
}

TEST_CASE("launch obstacles are reported with advice") {
  CHECK(launch_obstacle(job(2), here(2), site()).empty());
  CHECK_THAT(launch_obstacle(job(2), here(2), site(LauncherKind::local)), Contains("needs 2"));
  LaunchSite bare = site();
  bare.mpirun.clear();
  bare.cuda_rank_program.clear();
  CHECK_THAT(launch_obstacle(job(2), here(2), bare), Contains("install openmpi-bin"));
  CHECK(launch_obstacle(job(1), here(1), bare).empty());
  Job cuda = job(1);
  cuda.device = "cuda";
  CHECK_THAT(launch_obstacle(cuda, here(1), bare), Contains("no CUDA build"));
}

TEST_CASE("OpenMP may not bind a rank before it starts, unless the suite says so") {
  CHECK(launch_command(job(1), here(1), site()).env.at("OMP_PROC_BIND") == "false");
  Job asked = job(1);
  asked.env["OMP_PROC_BIND"] = "close";
  CHECK(launch_command(asked, here(1), site()).env.at("OMP_PROC_BIND") == "close");
}

TEST_CASE("jobs share a process when device, ranks, hosts, binding and environment are equal") {
  const Job one = job(2);
  Job other = one;
  other.params = {{"m", 1}};
  other.id = "other";
  CHECK(launch_key(one) == launch_key(other));
  const auto differs = [&](auto change) {
    Job changed = one;
    change(changed);
    return launch_key(changed) != launch_key(one);
  };
  CHECK(differs([](Job& j) { j.ranks = 3; }));
  CHECK(differs([](Job& j) { j.binding = "none"; }));
  CHECK(differs([](Job& j) { j.env["B"] = "2"; }));
  CHECK(differs([](Job& j) { j.hosts = {"there"}; }));
  CHECK(differs([](Job& j) { j.device = "cuda"; }));
}

namespace {

/// A job of two ranks each on two hosts, the first of which is this one.
Job spread() {
  Job result = job(4);
  result.hosts = {"here", "node2"};
  return result;
}
std::vector<Place> two_hosts() {
  return {{"here", "here", 2, 4, true}, {"node2", "10.0.0.2", 2, 4, false}};
}

}  // namespace

TEST_CASE("ranks on other hosts are started by mpirun, even one, each host with its share") {
  const std::string line = words(launch_command(spread(), two_hosts(), site()));
  CHECK_THAT(line, Contains("mpirun -np 4 --host here:2,10.0.0.2:2 "));
  CHECK_THAT(line, Contains(" --mca plm ^slurm,lsf,tm,alps ") &&
                       Contains(" --mca plm_rsh_no_tree_spawn 1 "));
  CHECK_THAT(line, Contains("BatchMode=yes") && Contains("ConnectTimeout=10"));
  CHECK_THAT(line, Contains(" --mca oob_tcp_keepalive_time 5 "));
  CHECK_THAT(line, !Contains("btl") && !Contains("isolated"));
  Job one = job(1);
  one.hosts = {"node2"};
  CHECK_THAT(words(launch_command(one, {{"node2", "10.0.0.2", 1, 4, false}}, site())),
             Contains("mpirun -np 1 --host 10.0.0.2:1 "));
}

TEST_CASE("ranks elsewhere get their environment from mpirun, and the site's beneath the job's") {
  LaunchSite there = site();
  there.token = "run-1";
  there.settings.env = {{"A", "2"}, {"UCX_TLS", "tcp"}};
  const Command command = launch_command(spread(), two_hosts(), there);
  const std::string line = words(command);
  CHECK_THAT(line, Contains(" -x A ") && Contains(" -x UCX_TLS "));
  CHECK_THAT(line, Contains(" -x BENCHCTL_RUN=run-1 ") && Contains(" -x OMP_PROC_BIND "));
  CHECK(command.env.at("A") == "1");
  CHECK(command.env.at("UCX_TLS") == "tcp");
  CHECK_FALSE(launch_command(spread(), two_hosts(), there).env.contains("BENCHCTL_RUN"));
  CHECK_THAT(words(launch_command(job(2), here(2), there)), !Contains(" -x "));
}

TEST_CASE("no launcher's command line has a value of the environment") {
  LaunchSite there = site();
  there.secrets = {{secret_hash("hf_x"), "hf_x"}, {secret_hash("s3cret"), "s3cret"}};
  there.settings.env = {{"HF_TOKEN", secret_hash("hf_x")}};
  there.slurm = {"/usr/bin/srun", "17", {}};
  Job job = spread();
  job.env = {{"DB_PASSWORD", secret_hash("s3cret")}, {"PLAIN", "visible"}};
  for (const LauncherKind kind : {LauncherKind::mpirun, LauncherKind::slurm}) {
    there.kind = kind;
    const Command command = launch_command(job, two_hosts(), there);
    CHECK_THAT(words(command), !Contains("hf_x") && !Contains("s3cret") && !Contains("visible"));
    CHECK(command.env.at("HF_TOKEN") == "hf_x");
    CHECK(command.env.at("DB_PASSWORD") == "s3cret");
  }
}

TEST_CASE("ranks are not started with a hash in place of a secret") {
  Job job = spread();
  job.env = {{"DB_PASSWORD", secret_hash("s3cret")}};
  CHECK_THROWS_WITH(launch_command(job, two_hosts(), site()), Contains("'DB_PASSWORD' is unknown"));
}

TEST_CASE("the site's MCA parameters replace ours, and its program is the one that is started") {
  LaunchSite there = site();
  there.settings.interfaces = "10.0.0.0/24";
  there.settings.mca = {{"mpi_yield_when_idle", "1"}, {"btl", "tcp,self"}};
  there.settings.rank_program = "/opt/bench/bench-rank";
  const std::string line = words(launch_command(spread(), two_hosts(), there));
  CHECK_THAT(line, Contains(" --mca btl_tcp_if_include 10.0.0.0/24 "));
  CHECK_THAT(line, Contains(" --mca mpi_yield_when_idle 1 ") && !Contains("mpi_yield_when_idle 0"));
  CHECK(line.ends_with(" /opt/bench/bench-rank "));
  CHECK(words(launch_command(job(2), here(2), there)).ends_with(" /x/bench-rank "));
}

TEST_CASE("the Open MPI of a bundle starts its own daemons, where hosts have the bundle") {
  LaunchSite there = site();
  there.mpirun_of_bundle = true;
  there.rank_program = "/opt/benchctl/bin/bench-rank";
  CHECK_THAT(words(launch_command(spread(), two_hosts(), there)),
             Contains(" --mca orte_launch_agent /opt/benchctl/mpi/bin/orted "));
  there.settings.rank_program = "/tmp/stage/benchctl/bin/bench-rank";
  CHECK_THAT(words(launch_command(spread(), two_hosts(), there)),
             Contains(" --mca orte_launch_agent /tmp/stage/benchctl/mpi/bin/orted "));
  CHECK(words(launch_command(spread(), two_hosts(), there))
            .ends_with(" /tmp/stage/benchctl/bin/bench-rank-mpi "));
  const std::string local = words(launch_command(job(2), here(2), there));
  CHECK_THAT(local, !Contains("orte_launch_agent"));
  CHECK(local.ends_with(" /opt/benchctl/bin/bench-rank-mpi "));
  CHECK(words(launch_command(job(1), here(1), there)) == " /opt/benchctl/bin/bench-rank ");
}

TEST_CASE("the Open MPI of a bundle is used only where it starts") {
  const TemporaryDirectory folder;
  const auto mpirun = folder.path() / "mpi" / "bin" / "mpirun";
  const std::string rank = (folder.path() / "bin" / "bench-rank").string();
  const auto found = [&](const char* script) {
    std::filesystem::create_directories(mpirun.parent_path());
    std::ofstream(mpirun) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(mpirun, std::filesystem::perms::owner_all);
    return find_launch_site(LauncherKind::mpirun, rank);
  };
  CHECK(found("echo 'mpirun (Open MPI) 4.1.4'\n").mpirun == mpirun.string());
  CHECK(found("exit 0\n").mpirun_of_bundle);
  const LaunchSite old = found("echo \"version 'GLIBC_2.36' not found\" >&2; exit 1\n");
  CHECK_FALSE(old.mpirun_of_bundle);
  CHECK(old.mpirun != mpirun.string());
}

TEST_CASE("--launcher local refuses other hosts, naming them") {
  CHECK_THAT(launch_obstacle(spread(), two_hosts(), site(LauncherKind::local)),
             Contains("this host only") && Contains("node2"));
  CHECK(launch_obstacle(spread(), two_hosts(), site()).empty());
  auto colon = two_hosts();
  colon[1].address = "fe80::1";
  CHECK_THAT(launch_obstacle(spread(), colon, site()), Contains("fe80::1") && Contains("a name"));
}

TEST_CASE("an unknown launcher is a usage error that lists the launchers") {
  try {
    launcher_from("ssh");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK_THAT(error.hint(), Contains("auto, local") && Contains("mpirun, slurm"));
  }
  CHECK(launcher_from("slurm") == LauncherKind::slurm);
}

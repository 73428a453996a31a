#include "runner/launcher.h"

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "tests/support/catch.h"

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

std::string words(const Command& command) { return " " + join(command.argv, " ") + " "; }

}  // namespace

TEST_CASE("one rank is a plain fork with the job's environment") {
  const Command command = launch_command(job(1), site(), 4);
  CHECK(command.argv == std::vector<std::string>{"/x/bench-rank"});
  CHECK(command.env == std::map<std::string, std::string>{{"A", "1"}, {"OMP_PROC_BIND", "false"}});
}

TEST_CASE("several ranks are started by mpirun, pinned as asked, over shared memory") {
  const std::string line = words(launch_command(job(4, "socket"), site(), 4));
  CHECK_THAT(line, Contains("/usr/bin/mpirun -np 4 "));
  CHECK_THAT(line, Contains(" --bind-to socket:overload-allowed "));
  CHECK_THAT(line, Contains(" --mca pml ob1 ") && Contains(" --mca btl vader,self "));
  CHECK_THAT(line, Contains(" --mca mpi_yield_when_idle 0 "));
  CHECK(line.ends_with(" /x/bench-rank "));
}

TEST_CASE("a share is as many slots as there are for each rank") {
  const std::string two = words(launch_command(job(2, "share"), site(), 16));
  CHECK_THAT(two, Contains(" --use-hwthread-cpus --map-by slot:PE=8 ") &&
                      Contains(" --bind-to hwthread:overload-allowed "));
  CHECK_THAT(words(launch_command(job(3, "share"), site(), 16)), Contains(" slot:PE=5 "));
  CHECK_THAT(words(launch_command(job(4, "share"), site(), 2)), Contains(" slot:PE=1 "));
}

TEST_CASE("more ranks than slots yield while they wait") {
  const std::string line = words(launch_command(job(8, "none"), site(), 4));
  CHECK_THAT(line, Contains(" --oversubscribe ") && Contains(" --mca mpi_yield_when_idle 1 "));
  CHECK_THAT(line, Contains(" --bind-to none "));
}

TEST_CASE("as root, OpenMPI is told twice that this is meant") {
  const auto env = launch_command(job(2), site(LauncherKind::automatic, true), 4).env;
  CHECK(env.at("OMPI_ALLOW_RUN_AS_ROOT") == "1");
  CHECK(env.at("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM") == "1");
  CHECK(env.at("A") == "1");
  CHECK_FALSE(launch_command(job(2), site(), 4).env.contains("OMPI_ALLOW_RUN_AS_ROOT"));
}

TEST_CASE("--launcher mpirun starts even one rank with mpirun") {
  CHECK_THAT(words(launch_command(job(1), site(LauncherKind::mpirun), 4)),
             Contains("mpirun -np 1 "));
}

TEST_CASE("a cuda job runs bench-rank-cuda") {
  Job cuda = job(1);
  cuda.device = "cuda";
  CHECK(launch_command(cuda, site(), 4).argv == std::vector<std::string>{"/x/bench-rank-cuda"});
}

TEST_CASE("what stands in the way of a launch is said with what to do") {
  CHECK(launch_obstacle(job(2), site()).empty());
  CHECK_THAT(launch_obstacle(job(2), site(LauncherKind::local)), Contains("needs 2"));
  LaunchSite bare = site();
  bare.mpirun.clear();
  bare.cuda_rank_program.clear();
  CHECK_THAT(launch_obstacle(job(2), bare), Contains("install openmpi-bin"));
  CHECK(launch_obstacle(job(1), bare).empty());
  Job cuda = job(1);
  cuda.device = "cuda";
  CHECK_THAT(launch_obstacle(cuda, bare), Contains("no CUDA build"));
}

TEST_CASE("OpenMP may not bind a rank before it starts, unless the suite says so") {
  CHECK(launch_command(job(1), site(), 4).env.at("OMP_PROC_BIND") == "false");
  Job asked = job(1);
  asked.env["OMP_PROC_BIND"] = "close";
  CHECK(launch_command(asked, site(), 4).env.at("OMP_PROC_BIND") == "close");
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

TEST_CASE("an unknown launcher is a usage error that lists what there is") {
  for (const char* name : {"slurm", "ssh"}) {
    try {
      launcher_from(name);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK_THAT(error.hint(), Contains("auto, local") && Contains("mpirun"));
    }
  }
}

#include "runner/launch/srun.h"

#include <algorithm>

#include "core/text.h"
#include "runner/dispatch/lane.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

LaunchSite slurm_site() {
  LaunchSite result{LauncherKind::slurm, "/x/bench-rank", "/x/bench-rank-cuda", "", false};
  result.slurm = {"/usr/bin/srun", "17", {}};
  result.token = "run-1";
  return result;
}

Place place(const std::string& host, int ranks, int slots = 4) {
  return {host, host + "-ib", ranks, slots, false};
}

Job job_on(const std::vector<Place>& places, const std::string& binding = "core") {
  Job job;
  job.ranks = 0;
  job.binding = binding;
  job.env = {{"A", "1,2"}};
  for (const Place& one : places) {
    job.hosts.push_back(one.host);
    job.ranks += one.ranks;
  }
  return job;
}

std::string line(const std::vector<Place>& places, const LaunchSite& there = slurm_site()) {
  return " " + join(launch_command(job_on(places), places, there).argv, " ") + " ";
}

}  // namespace

TEST_CASE("equal ranks on each host are a step in blocks, on nodes named by an expression") {
  const std::string words = line({place("n1", 2), place("n2", 2), place("n3", 2)});
  CHECK(words.starts_with(" /usr/bin/srun --jobid=17 "));
  CHECK_THAT(words, Contains(" --nodes=3 --ntasks=6 --ntasks-per-node=2 "));
  CHECK_THAT(words, Contains(" --distribution=block --nodelist=n[1-3] "));
  CHECK_THAT(words, Contains(" --mpi=pmix ") && Contains(" --kill-on-bad-exit=1 "));
  CHECK_THAT(words, Contains(" --input=0 ") && Contains(" --cpu-bind=cores "));
  CHECK_THAT(words, Contains(" --overlap ") && Contains(" --mem=0 "));
  CHECK_THAT(words, !Contains("--exact") && !Contains("--unbuffered"));
  CHECK(words.ends_with(" /x/bench-rank "));
}

TEST_CASE("a share of the host is counted in CPUs of a task") {
  const std::vector<Place> places = {place("n1", 2, 9), place("n2", 2, 8)};
  const Command command = launch_command(job_on(places, "share"), places, slurm_site());
  CHECK_THAT(" " + join(command.argv, " "), Contains(" --cpus-per-task=4 --cpu-bind=threads "));
  CHECK_THAT(line(places), !Contains("--cpus-per-task"));
}

TEST_CASE("unequal ranks use a list with one name per rank") {
  const std::string words = line({place("n2", 2), place("n1", 1)});
  CHECK_THAT(words, Contains(" --nodes=2 --ntasks=3 --distribution=arbitrary "));
  CHECK_THAT(words, Contains(" --nodelist=n2,n2,n1 ") && !Contains("ntasks-per-node"));
}

TEST_CASE("a step that cannot start fails before the handshake timeout") {
  const std::string words = line({place("n1", 1)});
  const auto at = words.find(" --immediate=");
  REQUIRE(at != std::string::npos);
  CHECK(std::stoi(words.substr(at + 13)) < LaneSettings{}.handshake.value);
  CHECK_THAT(words, Contains(" --no-kill=off "));
}

TEST_CASE("a single rank also uses srun, without MPI") {
  const std::string words = line({place("n1", 1)});
  CHECK_THAT(words, Contains(" --ntasks=1 ") && Contains(" --mpi=none "));
  const Place here{"n1", "n1", 1, 4, true};
  CHECK_THAT(line({here}), Contains("srun ") && Contains(" --nodelist=n1 "));
}

TEST_CASE("more ranks than slots are overcommitted and yield while they wait") {
  CHECK_THAT(line({place("n1", 5)}), Contains(" --overcommit "));
  CHECK_THAT(line({place("n1", 4)}), !Contains("--overcommit"));
  const auto yield = [](int ranks) {
    const std::vector places = {place("n1", ranks)};
    return launch_command(job_on(places), places, slurm_site())
        .env.at("OMPI_MCA_mpi_yield_when_idle");
  };
  CHECK(yield(5) == "1");
  CHECK(yield(4) == "0");
}

TEST_CASE("the ranks have the job's environment and the run's mark, srun has not the mark") {
  LaunchSite there = slurm_site();
  there.settings.env = {{"A", "3"}, {"UCX_TLS", "tcp"}};
  there.settings.mca = {{"btl", "tcp,self"}};
  there.settings.interfaces = "10.0.0.0/24";
  const std::vector places = {place("n1", 1), place("n2", 1)};
  const Command command = launch_command(job_on(places), places, there);
  CHECK(command.env.at("A") == "1,2");
  CHECK(command.env.at("UCX_TLS") == "tcp");
  CHECK(command.env.at("OMP_PROC_BIND") == "false");
  CHECK(command.env.at("OMPI_MCA_btl") == "tcp,self");
  CHECK(command.env.at("OMPI_MCA_btl_tcp_if_include") == "10.0.0.0/24");
  CHECK_FALSE(command.env.contains("BENCHCTL_RUN"));
  CHECK(std::ranges::find(command.argv, "--export=ALL,BENCHCTL_RUN=run-1") != command.argv.end());
}

TEST_CASE("a step forgets the one it is started from, and so does a plain fork") {
  const std::vector places = {place("n1", 1)};
  for (const char* name : {"SLURM_NTASKS", "SLURM_PROCID", "SLURM_CPUS_PER_TASK",
                           "SLURM_DISTRIBUTION", "SLURM_MEM_PER_CPU"}) {
    const auto step = launch_command(job_on(places), places, slurm_site()).unset;
    CHECK(std::ranges::find(step, name) != step.end());
  }
  LaunchSite local = slurm_site();
  local.kind = LauncherKind::local;
  const auto fork = launch_command(job_on(places), {{"n1", "n1", 1, 4, true}}, local).unset;
  CHECK(std::ranges::find(fork, "SLURM_PROCID") != fork.end());
}

TEST_CASE("the site's gres, container and arguments apply to every step, including host checks") {
  LaunchSite there = slurm_site();
  there.slurm.settings.gres = "gpu:8";
  there.slurm.settings.container_image = "/images/bench.sqsh";
  there.slurm.settings.container_mounts = {"/a:/b:ro", "/c:/c"};
  there.slurm.settings.args = {"--network=sharp"};
  there.slurm.settings.mpi = "pmix_v4";
  there.settings.rank_program = "/opt/bench-rank";
  const std::vector places = {place("n1", 2)};
  const std::string words = line(places, there);
  CHECK_THAT(words, Contains(" --mpi=pmix_v4 "));
  CHECK(words.ends_with(" /opt/bench-rank "));
  for (const std::string& text : {words, join(step_on_host("n1", there.slurm), " ") + " "}) {
    CHECK_THAT(text, Contains("--gres=gpu:8 ") && Contains(" --network=sharp "));
    CHECK_THAT(text, Contains(" --container-image=/images/bench.sqsh "));
    CHECK_THAT(text, Contains(" --container-mounts=/a:/b:ro,/c:/c "));
    CHECK_THAT(text, Contains(" --jobid=17 ") && Contains(" --nodelist=n1 "));
  }
}

TEST_CASE("Slurm obstacles name the host and the allocation") {
  const std::vector places = {place("n1", 1), place("n9", 1)};
  LaunchSite there = slurm_site();
  CHECK(launch_obstacle(job_on(places), places, there).empty());
  there.nodes_down = {{"n9", "IDLE+DRAIN"}};
  CHECK(launch_obstacle(job_on(places), places, there) ==
        "n9 cannot be allocated: its Slurm state is IDLE+DRAIN");
  CHECK(launch_obstacle(job_on({place("n2", 1)}), {place("n2", 1)}, there).empty());
  there.nodes_down.clear();
  there.allocation = Allocation{"17", {"n1", "n2"}, {{"n1", 4}, {"n2", 4}}};
  CHECK(launch_obstacle(job_on(places), places, there) ==
        "n9 is not in the Slurm allocation 17 (n[1-2])");
  CHECK(launch_obstacle(job_on({place("n2", 1)}), {place("n2", 1)}, there).empty());
  there.slurm.srun.clear();
  CHECK_THAT(launch_obstacle(job_on(places), places, there), Contains("install slurm-client"));
}

// What ranks that meet over TCP are told.
#include <algorithm>
#include <set>

#include "runner/launch/launcher.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

const std::vector<Place> kElsewhere = {{"n1", "bench@10.0.0.1", 2, 4, false},
                                       {"n2", "bench@10.0.0.2", 2, 4, false}};

Job job_of(int ranks) {
  Job job;
  job.ranks = ranks;
  job.hosts = {"n1", "n2"};
  return job;
}

}  // namespace

TEST_CASE("rank 0 is where the first place is, by its name or by its address") {
  CHECK(group_environment(kElsewhere, {}, false).at("BENCH_RENDEZVOUS") == "n1");
  CHECK(group_environment(kElsewhere, {}, true).at("BENCH_RENDEZVOUS") == "10.0.0.1");
  const auto here = group_environment({{"n1", "n1", 4, 4, true}}, {}, true);
  CHECK(here.at("BENCH_RENDEZVOUS") == "localhost");
}

TEST_CASE("the ranks give up before we do, and use the site's interfaces") {
  LaunchSettings settings;
  settings.interfaces = "eth1";
  settings.start_timeout_s = 60;
  const auto env = group_environment(kElsewhere, settings, true);
  CHECK(env.at("BENCH_GROUP_TIMEOUT_S") == "55");
  CHECK(env.at("BENCH_GROUP_INTERFACE") == "eth1");
}

TEST_CASE("each launch of several ranks has a secret of its own, which no command line shows") {
  LaunchSite site{LauncherKind::slurm, "/x/bench-rank", "", "/usr/bin/mpirun", false};
  site.slurm = {"/usr/bin/srun", "17", {}};
  std::set<std::string> secrets;
  for (const LauncherKind kind : {LauncherKind::slurm, LauncherKind::mpirun}) {
    site.kind = kind;
    Command command = launch_command(job_of(4), kElsewhere, site);
    give_group_secret(command, job_of(4));
    const std::string secret = command.env.at("BENCH_GROUP_SECRET");
    CHECK(secret.size() == 64);
    CHECK(secrets.insert(secret).second);
    for (const std::string& word : command.argv) CHECK(word.find(secret) == std::string::npos);
    Command alone = launch_command(job_of(1), kElsewhere, site);
    give_group_secret(alone, job_of(1));
    CHECK_FALSE(alone.env.contains("BENCH_GROUP_SECRET"));
  }
}

TEST_CASE("mpirun passes the secret to remote ranks by its name, srun all of its environment") {
  LaunchSite site{LauncherKind::mpirun, "/x/bench-rank", "", "/usr/bin/mpirun", false};
  const auto argv = launch_command(job_of(4), kElsewhere, site).argv;
  const auto name = std::ranges::find(argv, "BENCH_GROUP_SECRET");
  REQUIRE(name != argv.end());
  CHECK(*(name - 1) == "-x");
  site.kind = LauncherKind::slurm;
  site.slurm = {"/usr/bin/srun", "17", {}};
  const auto step = launch_command(job_of(4), kElsewhere, site).argv;
  CHECK(std::ranges::find(step, "--export=ALL") != step.end());
}

TEST_CASE("a rank does not take the group of whoever runs benchctl for its own") {
  const LaunchSite site{LauncherKind::local, "/x/bench-rank", "", "", false};
  const auto unset = launch_command(job_of(1), {{"n1", "n1", 1, 4, true}}, site).unset;
  for (const char* name :
       {"RANK", "WORLD_SIZE", "MASTER_ADDR", "BENCH_RENDEZVOUS", "BENCH_GROUP_SECRET"})
    CHECK(std::ranges::find(unset, name) != unset.end());
}

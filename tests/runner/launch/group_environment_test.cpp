// What ranks that meet over TCP are told.
#include <algorithm>

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

TEST_CASE("only ranks of a step have the token, and srun's command line does not show it") {
  LaunchSite site{LauncherKind::slurm, "/x/bench-rank", "", "/usr/bin/mpirun", false};
  site.slurm = {"/usr/bin/srun", "17", {}};
  site.group_token = make_group_token();
  CHECK(site.group_token.size() == 32);
  CHECK(site.group_token != make_group_token());
  const Command step = launch_command(job_of(4), kElsewhere, site);
  CHECK(step.env.at("BENCH_GROUP_TOKEN") == site.group_token);
  CHECK_FALSE(launch_command(job_of(1), kElsewhere, site).env.contains("BENCH_GROUP_TOKEN"));
  site.kind = LauncherKind::mpirun;
  for (const Command& command : {step, launch_command(job_of(4), kElsewhere, site)})
    for (const std::string& word : command.argv)
      CHECK(word.find(site.group_token) == std::string::npos);
}

TEST_CASE("a rank does not take the group of whoever runs benchctl for its own") {
  const LaunchSite site{LauncherKind::local, "/x/bench-rank", "", "", false};
  const auto unset = launch_command(job_of(1), {{"n1", "n1", 1, 4, true}}, site).unset;
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "BENCH_RENDEZVOUS"})
    CHECK(std::ranges::find(unset, name) != unset.end());
}

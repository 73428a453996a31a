// Which answer of a remote shell means what. The agent is a script that plays one.
#include "runner/dispatch/host_check.h"

#include <filesystem>
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// What is said of a host whose agent runs this.
HostAnswer answer_of(const std::string& script, int connect_timeout_s = 5) {
  const TemporaryDirectory folder;
  const auto agent = folder.path() / "agent";
  std::ofstream(agent) << "#!/bin/sh\n" << script << "\n";
  std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
  LaunchSettings settings;
  settings.agent = {agent.string()};
  settings.connect_timeout_s = connect_timeout_s;
  const auto answers =
      answering_hosts({{"n1", "10.0.0.1", 1, 1, false}}, settings, "/x/bench-rank", "run-1");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].host == "n1");
  return answers[0];
}

}  // namespace

TEST_CASE("a host with a clean sweep is healthy, and killed leftovers are reported") {
  CHECK(answer_of("exit 0").trouble.empty());
  const HostAnswer answer = answer_of("echo killed processes left by the run: orted 7");
  CHECK(answer.trouble.empty());
  CHECK_THAT(answer.swept, Contains("orted 7"));
}

TEST_CASE("the agent is given the address, the program on that host and the run") {
  CHECK_THAT(answer_of("echo \"$@\"").swept, Contains("10.0.0.1 /x/bench-rank --sweep run-1"));
}

TEST_CASE("an unreachable host is excluded with the agent's last output") {
  const HostAnswer answer = answer_of("echo banner >&2; echo 'connect: timed out' >&2; exit 255");
  CHECK(answer.trouble == "does not answer: connect: timed out");
}

TEST_CASE("a host without the program is out for that") {
  CHECK_THAT(answer_of("echo 'sh: no such file' >&2; exit 127").trouble,
             Contains("cannot run bench-rank") && Contains("no such file"));
}

TEST_CASE("a host with a process that does not end is excluded") {
  CHECK_THAT(answer_of("echo 'ended 1; process 12 cannot be killed: state D'").trouble,
             Contains("has a stuck process") && Contains("process 12"));
}

TEST_CASE("a host with a full disk is excluded") {
  CHECK_THAT(answer_of("echo 'cannot write to /tmp: No space left on device'").trouble,
             Contains("has no writable temporary folder: cannot write to /tmp"));
}

TEST_CASE("the states of hung ranks are reported per host, including hosts that do not answer") {
  const TemporaryDirectory folder;
  const auto agent = folder.path() / "agent";
  std::ofstream(agent) << "#!/bin/sh\n[ $1 = n2 ] || exit 255\nshift; echo \"$*\"\n";
  std::filesystem::permissions(agent, std::filesystem::perms::owner_all);
  LaunchSettings settings;
  settings.agent = {agent.string()};
  CHECK(query_rank_states({{"n1", "n1", 1, 1, false}, {"n2", "n2", 1, 1, false}}, settings,
                          "/x/rank", "run-1") ==
        "n1: does not answer: exit code 255; n2: /x/rank --states run-1");
}

TEST_CASE("a missing agent excludes no host") {
  LaunchSettings settings;
  settings.agent = {"/nonexistent/agent"};
  const auto answers =
      answering_hosts({{"n1", "n1", 1, 1, false}}, settings, "/x/bench-rank", "run-1");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].trouble.empty());
}

TEST_CASE("a host is not out for an allocation that has ended, or has had its last step") {
  for (const char* words :
       {"srun: error: Slurm job 6 has expired",
        "srun: error: Unable to create step for job 6: Step limit reached",
        "srun: error: Unable to confirm allocation for job 6: Invalid job id"}) {
    INFO(words);
    CHECK(answer_of("echo '" + std::string(words) + "' >&2; exit 1").trouble.empty());
  }
  CHECK_FALSE(answer_of("echo 'srun: error: Node failure' >&2; exit 1").trouble.empty());
}

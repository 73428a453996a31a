// How the probe `external` starts commands, what it tells them, and that nothing of them survives.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "core/clean.h"
#include "tests/process/external_bench.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

bool alive(pid_t pid) { return kill(pid, 0) == 0; }

pid_t pid_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  pid_t pid = 0;
  in >> pid;
  return pid;
}

void check_gone(pid_t pid) {
  REQUIRE(pid > 1);
  for (int i = 0; i < 200 && alive(pid); ++i) usleep(20'000);
  CHECK_FALSE(alive(pid));
}

/// Processes that use all cores while this exists.
class Neighbours {
 public:
  Neighbours() {
    for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); ++i) {
      pids_.push_back(fork());
      if (pids_.back() != 0) continue;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) getpid();
    }
  }
  ~Neighbours() {
    for (const pid_t pid : pids_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

 private:
  std::vector<pid_t> pids_;
};

}  // namespace

TEST_CASE("a training that floods both of its outputs is neither blocked nor lost") {
  std::vector<std::string> words = kGood;
  words.insert(words.begin() + 2, "flood=20000");
  ExternalBench external(words);
  CHECK(to_string(external.run().status) == "ok");
  CHECK(external.log().size() > 20'000'000);
}

TEST_CASE("on a crowded machine no time of an external training is clean") {
  const Neighbours neighbours;
  std::vector<std::string> words = kGood;
  words.insert(words.begin() + 2, "sleep_ms=300");
  ExternalBench external(words);
  CHECK(to_string(external.run().status) == "ok");
  const Samples time = external.series("time_to_target");
  CHECK(count_clean(time.flags) == 0);
  CHECK_THAT(time.reason, Contains("crowded"));
  CHECK(count_clean(external.series("quality").flags) == 1);
}

TEST_CASE("a training that hangs is ended at its deadline with all its descendants") {
  check_end({"start", "hang"}, Status::timed_out, "killed after its time limit of",
            {{"deadline_s", 0.4}});
  check_end({"start", "stubborn", "hang"}, Status::timed_out, "killed after its time limit of",
            {{"deadline_s", 0.4}});
}

TEST_CASE("a process that an external command daemonises is ended too") {
  for (const bool hangs : {false, true}) {
    const TemporaryDirectory folder;
    const auto file = folder.path() / "pid";
    std::vector<std::string> words = {"daemon=" + file.string(), "sleep_ms=100"};
    words.insert(words.end(), kGood.begin(), kGood.end());
    if (hangs) words.emplace_back("hang");
    ExternalBench external(words, {{"deadline_s", 0.6}});
    const Outcome outcome = external.run();
    INFO(outcome.reason);
    CHECK(to_string(outcome.status) == (hangs ? "timed_out" : "ok"));
    if (!hangs) CHECK(external.facts().at("commands").at(0).at("left_behind") == 1);
    check_gone(pid_in(file));
  }
}

TEST_CASE("processes started by a training end with a killed rank") {
  const TemporaryDirectory folder;
  const auto file = folder.path() / "pid", mark = folder.path() / "mark";
  ExternalBench external(
      {"start", "daemon=" + file.string(), "hang"},
      {{"deadline_s", 60.0}, {"cleanup", {beside("fake_trainer"), "mark=" + mark.string()}}});
  external.job.job.timeout_s = 1.0;  // the dispatcher's own deadline comes first
  const Outcome outcome = external.run();
  CHECK(to_string(outcome.status) == "timed_out");
  check_gone(pid_in(file));
  for (int i = 0; i < 200 && !std::filesystem::exists(mark); ++i) usleep(20'000);
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE("the cleanup command runs after the main command, and its exit code is reported") {
  const TemporaryDirectory folder;
  const auto mark = folder.path() / "mark";
  std::vector<std::string> words = kGood;
  words.emplace_back("exit=3");
  ExternalBench external(
      words, {{"cleanup", {beside("fake_trainer"), "mark=" + mark.string(), "exit=4"}}});
  CHECK(to_string(external.run().status) == "failed");
  CHECK(std::filesystem::exists(mark));
  CHECK(external.facts().at("commands").at(0).at("cleanup") == 4);
  CHECK(external.facts().at("commands").at(0).at("end") == "exit code 3");
}

TEST_CASE("an external command that cannot be started is reported with the reason") {
  ExternalBench external(kGood);
  external.job.job.params.own()["argv"] = {"/nowhere/train"};
  const Outcome outcome = external.run();
  CHECK(to_string(outcome.status) == "failed");
  CHECK_THAT(outcome.reason, Contains("/nowhere/train") && Contains("No such file"));
}

TEST_CASE("an external command with a missing input is not started, and the parameter is named") {
  ExternalBench external({"say={data}"});
  CHECK_THAT(external.run().reason, Contains("argv/1: {data} is not set"));
  ExternalBench unknown({"say={sede}"});
  CHECK_THAT(unknown.run().reason, Contains("{sede}") && Contains("Did you mean 'seed'?"));
}

TEST_CASE("an external command finds its seed, place and paths in its environment") {
  std::vector<std::string> words;
  for (const char* name : {"BENCH_SEED", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR",
                           "BENCH_DATA", "SEED", "OMPI_COMM_WORLD_RANK", "OMP_PROC_BIND"})
    words.push_back(std::string("variable=") + name);
  words.insert(words.end(), kGood.begin(), kGood.end());
  ExternalBench external(words, {{"data", "/data"}, {"environment", {{"SEED", "s{seed}"}}}});
  external.job.job.seed = 42;
  CHECK(to_string(external.run().status) == "ok");
  const std::string log = external.log();
  for (const char* line : {"BENCH_SEED=42\n", "RANK=0\n", "WORLD_SIZE=1\n", "LOCAL_RANK=0\n",
                           "MASTER_ADDR=127.0.0.1\n", "BENCH_DATA=/data\n", "\nSEED=s42\n",
                           "OMPI_COMM_WORLD_RANK=(not set)\n", "OMP_PROC_BIND=(not set)\n"})
    CHECK_THAT(log, Contains(line));
}

TEST_CASE("an external training on several ranks logs from any of them") {
  std::vector<std::string> words = {"variable=RANK", "only_rank=1"};
  words.insert(words.end(), kGood.begin(), kGood.end());
  ExternalBench external(words);
  if (!has_mpirun(external)) return;
  external.job.job.ranks = 2;
  const Outcome outcome = external.run();
  INFO(outcome.reason);
  CHECK(to_string(outcome.status) == "ok");
  CHECK(external.facts().at("converged") == true);
  CHECK(external.facts().at("commands").size() == 2);
  CHECK_THAT(external.log(0), Contains("RANK=0"));
  CHECK_THAT(external.log(1), Contains("RANK=1") && Contains("run_stop"));
}

TEST_CASE("an external command that fails on one rank ends those of the others") {
  ExternalBench external({"start", "unless_rank=1", "complain=no device", "exit=5"},
                         {{"deadline_s", 15.0}});
  if (!has_mpirun(external)) return;
  external.job.job.ranks = 2;
  const Outcome outcome = external.run();
  CHECK(to_string(outcome.status) == "failed");
  CHECK_THAT(outcome.reason,
             Contains("rank 1") && Contains("exit code 5") && Contains("no device"));
  CHECK(external.bench.seconds < 8.0);
}

TEST_CASE("one external command per host is started once for all its ranks") {
  std::vector<std::string> words = {"variable=WORLD_SIZE", "variable=LOCAL_WORLD_SIZE"};
  words.insert(words.end(), kGood.begin(), kGood.end());
  ExternalBench external(words, {{"processes", "host"}});
  if (!has_mpirun(external)) return;
  external.job.job.ranks = 2;
  CHECK(to_string(external.run().status) == "ok");
  CHECK(external.facts().at("commands").size() == 1);
  CHECK_THAT(external.log(), Contains("WORLD_SIZE=1\n") && Contains("LOCAL_WORLD_SIZE=1\n"));
}

// Whatever a rank does, its job gets an outcome with a reason, in bounded time, and the next job
// runs well in a fresh process.
#include <signal.h>
#include <sys/resource.h>

#include "core/error.h"
#include "core/proc_stat.h"
#include "tests/process/rank_bench.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

struct Expected {
  std::string fault;
  Status status;
  std::string reason;
  double timeout_s = 10.0;
  double within_s = 4.0;
};

void check(const Expected& expected) {
  INFO(expected.fault);
  RankBench bench;
  bench.run({faulty(expected.fault, expected.timeout_s), entry("02.good", Json::object())});
  const Outcome bad = bench.outcome("01.bad");
  CHECK(to_string(bad.status) == to_string(expected.status));
  CHECK_THAT(bad.reason, Contains(expected.reason));
  const Outcome good = bench.outcome("02.good");
  CHECK(to_string(good.status) == "ok");
  CHECK(bench.count<Samples>("02.good") >= 1);
  CHECK(bench.seconds < expected.within_s);
  // Served by a second process: each one is launched and says so.
  CHECK(bench.count<Phase>("01.bad") == 1);
  CHECK(bench.count<Phase>("02.good") == 1);
}

}  // namespace

TEST_CASE("a rank that crashes fails its job with the signal's name and its last output") {
  check({"crash", Status::failed, "SIGSEGV (Segmentation fault)"});
  check({"crash", Status::failed, "about to touch what is not mine"});
}

TEST_CASE("a rank that exits without an outcome fails its job, whatever the exit code") {
  check({"exit3", Status::failed, "without an outcome: exit code 3"});
  check({"exit3", Status::failed, "giving up"});
  check({"exit0", Status::failed, "without an outcome: exit code 0"});
}

TEST_CASE("a rank that tears its outcome and exits 0 fails its job") {
  check({"torn", Status::failed, "printed garbage"});
}

TEST_CASE("a rank that hangs times out and ends on SIGTERM") {
  check({"hang", Status::timed_out, "no outcome within 0.5 s; ended on SIGTERM", 0.5});
}

TEST_CASE("a rank that ignores SIGTERM is killed") {
  check({"stubborn", Status::timed_out, "ended on SIGKILL", 0.5});
}

TEST_CASE("a rank that talks for ever times out all the same, and its log stays bounded") {
  check({"chatter", Status::timed_out, "no outcome within 0.5 s", 0.5});
  RankBench bench;
  bench.run({faulty("chatter", 2.0)});
  CHECK(std::filesystem::file_size(bench.directory.log_path(1)) < RankLog::kMaxBytes + 1000);
}

TEST_CASE("a record with a wrong checksum fails the job") {
  check({"garbage", Status::failed, "checksum"});
}

TEST_CASE("an invalid record fails the job") {
  check({"invalid", Status::failed, "printed garbage"});
  check({"not_json", Status::failed, "not valid JSON"});
}

TEST_CASE("a line of 100 MB fails the job and does not fill our memory") {
  const auto peak_kib = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = peak_kib();
  check({"long_line", Status::failed, "printed a line longer than 16 MiB"});
  CHECK(peak_kib() - before < 64 * 1024);
}

TEST_CASE("a record for an unexpected job fails the current job") {
  check({"foreign", Status::failed, "a record for unexpected job '99.other'"});
}

TEST_CASE("a rank that closes its stdout and stays fails its job") {
  check({"closed", Status::failed, "closed its stdout while still running"});
}

TEST_CASE("a grandchild that holds the pipes does not hold us") {
  check({"grandchild", Status::failed, "without an outcome: exit code 5"});
}

TEST_CASE("a record behind an outcome overrules it") {
  check({"late", Status::failed, "sent records after this job's outcome"});
  check({"late_ok", Status::failed, "sent records after this job's outcome"});
}

TEST_CASE("a late record during the next job discards only its own job's result") {
  RankBench bench;
  bench.run({faulty("later"), entry("02.good", Json::object())});
  CHECK_THAT(bench.outcome("01.bad").reason, Contains("sent records after"));
  CHECK(to_string(bench.outcome("01.bad").status) == "failed");
  CHECK(to_string(bench.outcome("02.good").status) == "ok");
}

TEST_CASE("a record after the last job discards its result, too") {
  RankBench bench;
  bench.run({faulty("late_at_end")});
  CHECK(to_string(bench.outcome("01.bad").status) == "failed");
}

TEST_CASE("a rank that does not exit after its last job is stopped, and its results are valid") {
  RankBench bench;
  bench.run({faulty("no_exit")});
  CHECK(to_string(bench.outcome("01.bad").status) == "ok");
  CHECK(bench.seconds < 4.0);
}

TEST_CASE(
    "ranks under mpirun that ignore SIGTERM are all ended, though each has its own process group") {
  RankBench bench;
  try {
    bench.site.mpirun = find_program("mpirun");
  } catch (const Error&) {
    WARN("not checked: no mpirun");
    return;
  }
  bench.site.root = true;  // harmless for others
  PlanEntry two = faulty("stubborn", 2.0);
  two.job.ranks = 2;
  two.job.binding = "none";
  bench.run({two, entry("02.good", Json::object())});
  CHECK_THAT(bench.outcome("01.bad").reason, Contains("no outcome within 2 s; ended on SIG"));
  CHECK(to_string(bench.outcome("02.good").status) == "ok");
  const auto left = [] {
    std::size_t count = 0;
    for (const ProcStat& process : all_processes()) {
      std::error_code none;
      const auto link = "/proc/" + std::to_string(process.pid) + "/exe";
      count += process.state != 'Z' && std::filesystem::read_symlink(link, none) == faulty_rank();
    }
    return count;
  };
  for (int i = 0; i < 100 && left() > 0; ++i) usleep(20'000);  // SIGKILL takes its time
  CHECK(left() == 0);
}

TEST_CASE("a process that survives all signals is abandoned, and the run continues") {
  RankBench bench;
  std::vector<pid_t> survivors;
  bool first = true;
  bench.settings.signaller = [&](pid_t leader, int) {
    // Stands for uninterruptible sleep: signals are accepted and nothing happens.
    if (first) survivors.push_back(leader);
    first = false;
    if (leader != survivors.front()) signal_session(leader, SIGKILL);
  };
  bench.run({faulty("stubborn", 0.5), entry("02.good", Json::object())});
  const Outcome bad = bench.outcome("01.bad");
  CHECK(to_string(bad.status) == "timed_out");
  REQUIRE(survivors.size() == 1);
  CHECK_THAT(bad.reason,
             Contains("process " + std::to_string(survivors[0]) + " did not end: S (sleeping)"));
  CHECK(to_string(bench.outcome("02.good").status) == "ok");
  CHECK(bench.seconds < 5.0);
  signal_session(survivors[0], SIGKILL);
}

#include "devices/facts/process_watch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/core_thief.h"

namespace bench {
namespace {

constexpr Seconds kWall{0.1};

double lost(std::vector<ThreadAccount> used, int cores = 2) {
  return lost_to_others(used, kWall, cores).value;
}

TEST_CASE("the kernel's account of a thread is read, and a broken one is unknown") {
  const auto account = thread_account("1500000000 250000000 42\n");
  REQUIRE(account);
  CHECK(account->ran_s == Approx(1.5));
  CHECK(account->waited_s == Approx(0.25));
  CHECK(account->turns == 42);
  CHECK_FALSE(thread_account("0 12"));
  CHECK_FALSE(thread_account(""));
}

TEST_CASE("the loss is the longest wait of any thread") {
  CHECK(lost({{0.1, 0.0, 1}, {0.08, 0.02, 1}}) == Approx(0.02).epsilon(0.01));
  CHECK(lost({{0.1, 0.0, 1}}) == 0.0);
}

TEST_CASE("threads that wake often on idle cores lose nothing") {
  CHECK(lost({{0.01, 0.002, 100}}) == 0.0);
  CHECK(lost({{0.01, 0.02, 10}}) > 0.01);
}

TEST_CASE("threads that outnumber their cores wait for each other") {
  const ThreadAccount half{0.05, 0.05, 10};
  CHECK(lost({half, half, half, half}) == 0.0);
  CHECK(lost({half, half}) > 0.04);  // these had a core each
}

TEST_CASE("CPU time of children counts once they have ended") {
  ProcessWatch own, all(ProcessWatch::Of::descendants);
  const Seconds before = own.cpu_time(), with_children = all.cpu_time();
  const pid_t child = fork();
  if (child == 0) {
    spin({0.2});
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const double of_child = (all.cpu_time() - with_children - (own.cpu_time() - before)).value;
  CHECK(of_child > 0.0);
}

TEST_CASE("a process on the same core takes time from a working thread") {
  const CoreThief thief;
  ProcessWatch watch;
  watch.start();
  spin({0.2});
  CHECK(watch.lost().value > 0.002);
}

}  // namespace
}  // namespace bench

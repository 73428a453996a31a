#include "devices/host/team.h"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <set>

#include "core/error.h"
#include "devices/facts/cpu_facts.h"
#include "devices/host/host_cpus.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

TEST_CASE("asking for more threads than cores is an error that names both") {
  const HostCpus cpus({0, 2});
  CHECK(cpus.first(2) == std::vector<int>{0, 2});
  CHECK_THROWS_WITH(cpus.first(3), Catch::Contains("3 threads") && Catch::Contains("2 cores"));
  CHECK_THROWS_AS(cpus.first(0), Error);
}

TEST_CASE("a team runs the work once on each of its cores and gives the caller its CPUs back") {
  const HostCpus cpus = HostCpus::allowed();
  const auto before = allowed_cpus();
  HostThreadWatch watch;
  {
    Team team(cpus.all(), watch);
    for (int round = 0; round < 200; ++round) {
      std::mutex mutex;
      std::set<int> ran_on;
      team.run([&](int) {
        const std::lock_guard lock(mutex);
        ran_on.insert(sched_getcpu());
      });
      REQUIRE(ran_on.size() == cpus.all().size());
    }
  }
  CHECK(allowed_cpus() == before);
}

TEST_CASE("a thread that was kept from its core shows as lost time") {
  const int core = HostCpus::allowed().all().front();
  HostThreadWatch watch;
  Team team({core}, watch);
  std::atomic<bool> stop{false};
  // A competitor on the same core: the scheduler must take the core from us within a few ticks.
  std::thread competitor([&] {
    pin_to(core);
    while (!stop) {
    }
  });
  Seconds lost;
  for (int round = 0; round < 500 && lost.value < 1e-3; ++round) {
    watch.start();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
    while (std::chrono::steady_clock::now() < until) {
    }
    lost = watch.lost();
  }
  stop = true;
  competitor.join();
  CHECK(lost.value >= 1e-3);
}

}  // namespace
}  // namespace bench

#include "runner/dispatch/dispatcher.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

PlanEntry on(std::vector<std::string> hosts, const std::string& kind = "a") {
  PlanEntry entry;
  entry.job.hosts = std::move(hosts);
  entry.job.env = {{"KIND", kind}};
  return entry;
}

}  // namespace

TEST_CASE("jobs on other hosts run at once, those of one host in the plan's order") {
  const std::vector<PlanEntry> entries = {on({"a"}), on({"a"}), on({"b"})};
  Schedule schedule(entries);
  CHECK(schedule.take() == 0u);
  CHECK(schedule.take() == 2u);
  CHECK_FALSE(schedule.take());
  CHECK(schedule.follow(0) == 1u);
  CHECK(schedule.empty());
}

TEST_CASE("a job of two hosts waits for both, and later jobs of either wait for it") {
  const std::vector<PlanEntry> entries = {on({"a"}), on({"b"}), on({"a", "b"}), on({"a"})};
  Schedule schedule(entries);
  CHECK(schedule.take() == 0u);
  CHECK(schedule.take() == 1u);
  CHECK_FALSE(schedule.follow(0));
  schedule.free(0);
  CHECK_FALSE(schedule.take());
  CHECK_FALSE(schedule.follow(1));
  schedule.free(1);
  CHECK(schedule.take() == 2u);
  CHECK_FALSE(schedule.take());
  CHECK_FALSE(schedule.follow(2));
  schedule.free(2);
  CHECK(schedule.take() == 3u);
}

TEST_CASE("a process continues only with jobs of the same launch; its hosts stay taken") {
  const std::vector<PlanEntry> entries = {on({"a"}, "x"), on({"a"}, "y")};
  Schedule schedule(entries);
  CHECK(schedule.take() == 0u);
  CHECK_FALSE(schedule.follow(0));
  CHECK_FALSE(schedule.take());  // the process of the first still lives there
  schedule.free(0);
  CHECK(schedule.take() == 1u);
}

TEST_CASE("hosts that wait for a lane take turns by rounds") {
  // As planned for an acceptance: two cases, twice, on two hosts.
  std::vector<PlanEntry> entries;
  for (int repeat = 0; repeat < 2; ++repeat)
    for (int one = 0; one < 2; ++one)
      for (const char* host : {"a", "b"}) {
        entries.push_back(on({host}));
        entries.back().job.repeat = repeat;
      }
  Schedule one_lane(entries, true);
  CHECK(one_lane.take() == 0u);
  CHECK(one_lane.follow(0) == 2u);  // of the same round: the process goes on, though b waits
  CHECK_FALSE(one_lane.follow(2));
  one_lane.free(2);
  CHECK(one_lane.take() == 1u);
  Schedule any_order(entries);  // of any other run: a process goes on
  CHECK(any_order.take() == 0u);
  CHECK(any_order.follow(0) == 2u);
  CHECK(any_order.follow(2) == 4u);
  Schedule two_lanes(entries, true);
  CHECK(two_lanes.take() == 0u);
  CHECK(two_lanes.take() == 1u);
  CHECK(two_lanes.follow(0) == 2u);
  CHECK(two_lanes.follow(2) == 4u);  // nobody waits: the process goes on
}

TEST_CASE("jobs not taken remain, planned skips do not") {
  std::vector<PlanEntry> entries = {on({"a"}), on({"a"}), on({"b"})};
  entries[1].skip = "no CUDA build";
  Schedule schedule(entries);
  CHECK(schedule.take() == 0u);
  CHECK(schedule.left() == std::vector<std::size_t>{2});
}

TEST_CASE(
    "4,000 hosts with 20 jobs each, and pairs of them, are scheduled without a quadratic wait") {
  std::vector<PlanEntry> entries;
  for (int round = 0; round < 20; ++round)
    for (int host = 0; host < 4000; ++host) entries.push_back(on({"n" + std::to_string(host)}));
  for (int host = 0; host < 4000; host += 2)
    entries.push_back(on({"n" + std::to_string(host), "n" + std::to_string(host + 1)}));
  Schedule schedule(entries);
  std::size_t ran = 0;
  while (auto job = schedule.take()) {
    std::size_t last = *job;
    for (auto next = job; next; next = schedule.follow(last)) last = *next, ++ran;
    schedule.free(last);
  }
  CHECK(ran == entries.size());
  CHECK(schedule.empty());
}

TEST_CASE("a job is awaited while a host of it has another one") {
  const std::vector<PlanEntry> entries = {on({"a", "b"}), on({"b"}), on({"c"})};
  Schedule schedule(entries);
  CHECK(schedule.take() == 0u);
  CHECK(schedule.is_awaited(0));
  CHECK(schedule.take() == 2u);
  CHECK_FALSE(schedule.is_awaited(2));
}

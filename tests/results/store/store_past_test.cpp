// What a night takes from earlier runs.
#include "results/store/store_past.h"

#include <limits>

#include "results/store/store.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;

TEST_CASE("a job without clean samples is no check of its host, a count is") {
  const TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  RunFixture run;
  Samples disturbed = samples("throughput", 1e9);
  disturbed.flags.assign(disturbed.values.size(), kCrowded);
  run.job("a", "quiet", "gemm").add("a", samples("throughput", 1e9)).outcome("a");
  run.job("b", "busy", "gemm").add("b", disturbed).add("b", samples("share", 0.9, 1)).outcome("b");
  run.job("c", "count", "topology").add("c", samples("cores", 8, 1)).outcome("c").end();
  store.import_run(run.write(folder.path() / "runs"));
  std::vector<std::string> cases;
  for (const CheckPast& check : past_checks(store, 0)) cases.push_back(check.case_name);
  CHECK(cases == std::vector<std::string>{"count", "quiet"});
}

TEST_CASE(
    "what a rank skipped in the last run of a case is known, plans and want of time are not") {
  const TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  const auto run = [&](int number, const std::string& case_name, const Outcome& outcome) {
    RunFixture one("20261120T18300" + std::to_string(number) + "Z-demo-0001");
    one.plan["time_ns"] = start_ns() + number;
    one.job("a", case_name, "gemm").add("a", outcome).end();
    store.import_run(one.write(folder.path() / "runs"));
  };
  run(1, "gpu", {Status::ok, "", 1.0});
  run(2, "gpu", {Status::skipped, "no GPU", 1.0});
  run(3, "repaired", {Status::skipped, "no GPU", 1.0});
  run(4, "repaired", {Status::ok, "", 1.0});
  run(5, "late", {Status::skipped, "no time left in the budget", 0.0});
  const auto skips = past_skips(store, 0);
  REQUIRE(skips.size() == 1);
  CHECK(skips[0].host == "node1");
  CHECK(skips[0].case_name == "gpu");
  CHECK(skips[0].reason == "no GPU");
  CHECK(past_skips(store, start_ns() + 3).empty());
}

TEST_CASE("a host's CPU quotas of earlier runs are read, newest first") {
  const TemporaryDirectory folder;
  Store store = Store::open(folder.path() / "results.sqlite", Access::write);
  const std::vector<Json> quotas = {"none", 0.5, "unreadable", 4};
  for (std::size_t i = 0; i < quotas.size(); ++i) {
    RunFixture run("20261120T18300" + std::to_string(i) + "Z-demo-0001");
    run.plan["time_ns"] = start_ns() + static_cast<std::int64_t>(i);
    const Facts facts{"host", {{"cpu_quota_cores", quotas[i]}}};
    run.job("a", "quick", "gemm").add("a", facts).add("a", facts, 1).outcome("a").end();
    store.import_run(run.write(folder.path() / "runs"));
  }
  RunFixture rerun("20261120T183009Z-demo-0001");
  rerun.plan["labels"]["nightly"] = "20261120T183003Z-demo-0001";
  rerun.job("a", "quick", "gemm").add("a", Facts{"host", {{"cpu_quota_cores", 1}}});
  store.import_run(rerun.outcome("a").end().write(folder.path() / "runs"));
  const auto inf = std::numeric_limits<double>::infinity();
  const std::int64_t later = start_ns() + 100;
  CHECK(past_cpu_quotas(store, "node1", later, 20) == std::vector<double>{4, 0.5, inf});
  CHECK(past_cpu_quotas(store, "node1", later, 2) == std::vector<double>{4, 0.5});
  CHECK(past_cpu_quotas(store, "node1", start_ns() + 1, 20) == std::vector<double>{inf});
  CHECK(past_cpu_quotas(store, "node2", later, 20).empty());
}

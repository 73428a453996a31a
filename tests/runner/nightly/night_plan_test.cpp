#include "runner/nightly/night_plan.h"

#include <set>

#include "runner/hosts/slurm_nodes.h"
#include "runner/nightly/node_batches.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

constexpr std::int64_t kTonight = 1'000'000'000'000'000'000;
constexpr double kSecond = 1e9;

std::int64_t days_ago(double days) {
  return kTonight - static_cast<std::int64_t>(days * kDay_s * kSecond);
}

FaultCatalogue two_faults() {
  FaultCatalogue catalogue;
  catalogue.faults = {{"gpu", {1, 100, 500 * kDay_s, 1}}, {"disk", {1, 100, 500 * kDay_s, 1}}};
  catalogue.detectors = {
      {"gemm", "", "gpu", 0.5}, {"burn", "", "gpu", 0.9}, {"io", "", "disk", 0.9}};
  return catalogue;
}

PlanEntry night_job(const std::string& host, const std::string& case_name, double seconds) {
  PlanEntry entry;
  entry.job.id = host + "." + case_name;
  entry.job.case_name = entry.job.probe = case_name;
  entry.job.hosts = {host};
  entry.expected = Seconds{seconds};
  return entry;
}

CheckPast checked(const std::string& host, const std::string& case_name, double days) {
  return {host, case_name, case_name, "host", days_ago(100), days_ago(days), 10, 0.0};
}

std::vector<std::string> job_ids(const Plan& plan) {
  std::vector<std::string> list;
  for (const PlanEntry& entry : plan.entries) list.push_back(entry.job.id);
  return list;
}

Plan of_host(const std::string& host) {
  Plan plan;
  plan.entries = {night_job(host, "burn", 300), night_job(host, "gemm", 60),
                  night_job(host, "io", 30)};
  return plan;
}

}  // namespace

TEST_CASE("a night runs the best gain per second and says what it skips and why") {
  const FaultCatalogue faults = two_faults();
  const NightPast past{{checked("a", "burn", 1), checked("a", "gemm", 1), checked("a", "io", 1)},
                       {}};
  const PastIndex index(past, faults, kTonight);
  const NightPlan night = plan_night(of_host("a"), index, {100, 0.0, 1, kTonight, days_ago(1)});
  CHECK(job_ids(night.plan) == std::vector<std::string>{"a.io", "a.gemm"});
  REQUIRE(night.skipped_checks.size() == 1);
  CHECK(night.skipped_checks[0].case_name == "burn");
  CHECK(night.skipped_checks[0].why.find("300.0 s, but the budget per host is 100.0 s") !=
        std::string::npos);
  CHECK(night.exact);
}

TEST_CASE("what a host could not run last time is tried only in time that is left") {
  const FaultCatalogue faults = two_faults();
  NightPast past{{checked("a", "gemm", 1), checked("a", "io", 1)}, {}};
  past.skips = {{"a", "burn", "no GPU"}};
  const PastIndex index(past, faults, kTonight);
  const auto night = [&](double budget_s) {
    return plan_night(of_host("a"), index, {budget_s, 0.0, 1, kTonight, days_ago(1)});
  };
  const NightPlan short_night = night(350);
  CHECK(job_ids(short_night.plan) == std::vector<std::string>{"a.io", "a.gemm"});
  REQUIRE(short_night.skipped_checks.size() == 1);
  CHECK(short_night.skipped_checks[0].why ==
        "skipped when it last ran (no GPU): tried again when time is left");
  CHECK(job_ids(night(400).plan).size() == 3);
}

TEST_CASE("checks skipped last night come first, oldest first") {
  const FaultCatalogue faults = two_faults();
  const NightPast past{{checked("a", "burn", 5), checked("a", "gemm", 3), checked("a", "io", 0.9)},
                       {}};
  const PastIndex index(past, faults, kTonight);
  const NightPlan night = plan_night(of_host("a"), index, {360, 0.0, 1, kTonight, days_ago(1)});
  CHECK(job_ids(night.plan) == std::vector<std::string>{"a.burn", "a.gemm"});
}

TEST_CASE("short nights rotate until every check ran") {
  const FaultCatalogue faults = two_faults();
  NightPast past{{checked("a", "burn", 3), checked("a", "gemm", 3), checked("a", "io", 3)}, {}};
  std::set<std::string> ran;
  for (int day = 2; day >= 0; --day) {
    const PastIndex index(past, faults, days_ago(day));
    const NightPlan night =
        plan_night(of_host("a"), index, {300, 0.0, 1, days_ago(day), days_ago(day + 1)});
    for (const std::string& id : job_ids(night.plan)) ran.insert(id);
    for (CheckPast& check : past.checks)
      for (const PlanEntry& entry : night.plan.entries)
        if (entry.job.case_name == check.case_name) check.last_ns = days_ago(day);
  }
  CHECK(ran == std::set<std::string>{"a.burn", "a.gemm", "a.io"});
}

TEST_CASE("hosts share the time of the lanes, and the last duration of a job is its cost") {
  const FaultCatalogue faults = two_faults();
  CheckPast slow = checked("a", "io", 1);
  slow.seconds = 500;
  const NightPast past{{slow}, {}};
  const PastIndex index(past, faults, kTonight);
  Plan plan;
  plan.entries = {night_job("a", "io", 30), night_job("b", "io", 30), night_job("b", "gemm", 60)};
  const NightPlan night = plan_night(plan, index, {100, 0.0, 1, kTonight, 0});
  CHECK(job_ids(night.plan) == std::vector<std::string>{"b.io"});
  CHECK(night.skipped_checks.size() == 2);
}

TEST_CASE("a planned skip is not a check, and no checks give an empty plan") {
  const FaultCatalogue faults = two_faults();
  const NightPast none;
  const PastIndex index(none, faults, kTonight);
  Plan plan = of_host("a");
  for (PlanEntry& entry : plan.entries) entry.skip = "no CUDA build";
  const NightPlan night = plan_night(plan, index, {1000, 0.25, 1, kTonight, 0});
  CHECK(night.plan.entries.empty());
  CHECK(night.skipped_checks.empty());
}

TEST_CASE("jobs with any busy node are skipped") {
  Plan plan = of_host("n1");
  plan.entries.push_back(night_job("n2", "pair", 10));
  plan.entries.back().job.hosts.push_back("n1");
  plan.entries.push_back(night_job("n2", "io", 10));
  skip_busy(plan, busy_slurm_nodes("NodeName=n1 Arch=x86_64 State=ALLOCATED ThreadsPerCore=1\n"
                                   "NodeName=n2 State=IDLE+CLOUD Reason=x State=DOWN\n"
                                   "NodeName=n3 State=IDLE+PLANNED\nNodeName=n4 State=IDLE*\n"));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(plan.entries[i].skip == "n1 is ALLOCATED; nightly runs only on idle nodes");
  CHECK(plan.entries[4].skip.empty());
  const auto busy = busy_slurm_nodes("NodeName=n3 State=IDLE+PLANNED\nNodeName=n4 State=IDLE*\n");
  CHECK(busy.size() == 2);
  CHECK(busy_slurm_nodes("NodeName=n5 State=IDLE\n").empty());
}

TEST_CASE("on Slurm a night is one low-priority batch job per node") {
  RunRequest night;
  night.plan = of_host("n1");
  night.plan.entries.push_back(night_job("n2", "io", 300));
  night.plan.entries.push_back(night_job("n2", "pair", 10));
  night.plan.entries.back().job.hosts.push_back("n1");
  night.plan.entries.push_back(night_job("n1", "late", 10));
  night.plan.entries.push_back(night_job("n3", "io", 10));
  night.plan.entries.back().skip = "n3 is ALLOCATED";
  const std::vector<Plan> parts = parts_by_hosts(night.plan);
  REQUIRE(parts.size() == 3);
  CHECK(job_ids(parts[0]) == std::vector<std::string>{"n1.burn", "n1.gemm", "n1.io", "n1.late"});
  CHECK(job_ids(parts[1]) == std::vector<std::string>{"n2.io"});
  CHECK(job_ids(parts[2]) == std::vector<std::string>{"n2.pair"});
  const RunRequest part = request_of_part(night, parts[1]);
  CHECK(part.plan.inventory.slurm.time_limit == "18");
  CHECK(part.plan.inventory.slurm.allocation_args == std::vector<std::string>{"--nice=10000"});
}

TEST_CASE("recent failures raise the fault chance of a host, and misses lower that of a check") {
  const FaultCatalogue faults = two_faults();
  NightFinding finding;
  finding.state = SuspicionState::confirmed;
  finding.host = "a";
  finding.probe = "burn";
  finding.device = "host";
  finding.run = "night1";
  finding.also_ran = {check_name("gemm", "host")};
  const std::vector<CheckPast> checks = {checked("a", "burn", 1), checked("b", "burn", 1)};
  const NightPast calm{checks, {}},
      failed{checks, {{days_ago(2), finding}, {days_ago(2), finding}}};
  const PastIndex before(calm, faults, kTonight), after(failed, faults, kTonight);
  CHECK(after.chances("a").at("gpu").chance > 1.5 * before.chances("a").at("gpu").chance);
  CHECK(after.chances("b").at("gpu").chance > before.chances("b").at("gpu").chance);
  CHECK(after.incidents("a") == 1);
  CHECK(after.finds("gemm", "host").at("gpu") == Approx(1.0 / 3.0));
  CHECK(after.finds("burn", "host").at("gpu") > 0.9);
}

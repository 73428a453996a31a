#include "runner/nightly/reruns.h"

#include "results/run/run_summary.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

PlanEntry slow_job(const std::string& host, const std::string& case_name) {
  PlanEntry entry;
  entry.job.id = host + "." + case_name;
  entry.job.case_name = case_name;
  entry.job.probe = "null";
  entry.job.hosts = {host};
  entry.places.emplace_back().host = host;
  entry.expected = Seconds{10.0};
  return entry;
}

Plan three_hosts() {
  Plan plan;
  for (const char* host : {"a", "b", "c"}) {
    plan.entries.push_back(slow_job(host, "gemm"));
    plan.entries.push_back(slow_job(host, "memory"));
  }
  return plan;
}

NightFinding suspect(const std::string& host, const std::string& case_name) {
  NightFinding finding;
  finding.kind = SuspicionKind::slower;
  finding.host = host;
  finding.case_name = case_name;
  finding.probe = "null";
  finding.metric = "null.value";
  finding.better = Better::higher;
  finding.job = host + "." + case_name;
  finding.text = "5 % worse than its history";
  return finding;
}

std::vector<std::string> rerun_ids(const Plan& plan) {
  std::vector<std::string> list;
  for (const PlanEntry& entry : plan.entries) list.push_back(entry.job.id);
  return list;
}

/// A report in which each of these jobs has one value.
RunSummary report_of(const std::vector<std::pair<PlanEntry, double>>& jobs) {
  RunFixture run;
  for (const auto& [entry, value] : jobs) {
    run.job(entry.job.id, entry.job.case_name, "null");
    run.plan["jobs"].back()["hosts"] = entry.job.hosts;
    run.add(entry.job.id, samples("value", value, 40)).outcome(entry.job.id);
  }
  return make_run_summary(run.end().records());
}

RunSummary again_of(const Reruns& reruns, double host, double peer) {
  std::vector<std::pair<PlanEntry, double>> jobs;
  for (const PlanEntry& entry : reruns.plan.entries)
    jobs.emplace_back(entry, entry.job.hosts.front() == "a" ? host : peer);
  return report_of(jobs);
}

const std::vector<double> kSteadyRuns = {100.1, 99.7, 100.4, 100.0, 99.9,
                                         100.3, 99.8, 100.2, 100.0, 99.6};

NightFinding judged(double host, double peer) {
  const Plan plan = three_hosts();
  const Reruns reruns = plan_reruns(plan, {{suspect("a", "gemm")}, 1, 0, 0}, 3, 1000);
  const RunSummary first = report_of({{plan.entries[0], 95}, {plan.entries[2], 100}});
  const HistoryOf history = [](const SeriesIdentity&) { return kSteadyRuns; };
  return judge_reruns(reruns, first, again_of(reruns, host, peer), history, {}).at(0);
}

}  // namespace

TEST_CASE("a suspicion is rerun three times with an unsuspicious peer") {
  const Suspicions suspicions{{suspect("a", "gemm"), suspect("b", "gemm")}, 2, 0, 0};
  const Reruns reruns = plan_reruns(three_hosts(), suspicions, 3, 1000);
  REQUIRE(reruns.asked.size() == 2);
  CHECK(reruns.asked[0].peer == "c");
  CHECK(reruns.asked[1].peer == "c");
  CHECK(rerun_ids(reruns.plan) ==
        std::vector<std::string>{"a.gemm.again1", "c.gemm.again1", "a.gemm.again2", "c.gemm.again2",
                                 "a.gemm.again3", "c.gemm.again3", "b.gemm.again1", "b.gemm.again2",
                                 "b.gemm.again3"});
}

TEST_CASE("short of time, the most certain suspicions are rerun and the others stay unsettled") {
  const Suspicions suspicions{{suspect("a", "gemm"), suspect("a", "memory")}, 2, 0, 0};
  const Reruns reruns = plan_reruns(three_hosts(), suspicions, 3, 40);
  REQUIRE(reruns.asked.size() == 1);
  CHECK(reruns.asked[0].case_name == "gemm");
  REQUIRE(reruns.no_time.size() == 1);
  CHECK(reruns.no_time[0].state == SuspicionState::unsettled);
  CHECK_THAT(reruns.no_time[0].text, Contains("no time left"));
}

TEST_CASE("reruns confirm a slow host and distinguish it from a slow fleet") {
  const NightFinding alone = judged(95, 100);
  CHECK(alone.state == SuspicionState::confirmed);
  CHECK(alone.again.size() == 3);
  CHECK(alone.peer_again.size() == 3);
  CHECK_THAT(alone.text, Contains("peer b is unchanged"));
  CHECK_THAT(judged(95, 95).text, Contains("b also lost 5.0 %"));
  CHECK(judged(100, 100).state == SuspicionState::dropped);
}

TEST_CASE("a failed rerun confirms, and an unstarted one is inconclusive") {
  NightFinding failed = suspect("a", "gemm");
  failed.kind = SuspicionKind::failed;
  const Reruns reruns = plan_reruns(three_hosts(), {{failed}, 0, 0, 0}, 3, 1000);
  RunFixture run;
  for (const PlanEntry& entry : reruns.plan.entries) {
    run.job(entry.job.id, "gemm", "null");
    const bool second = entry.job.id == "a.gemm.again2";
    run.outcome(entry.job.id, second ? Status::timed_out : Status::ok, second ? "hung" : "");
  }
  const HistoryOf none = [](const SeriesIdentity&) { return std::vector<double>(); };
  const RunSummary first = report_of({}), again = make_run_summary(run.end().records());
  const NightFinding found = judge_reruns(reruns, first, again, none, {}).at(0);
  CHECK(found.state == SuspicionState::confirmed);
  CHECK_THAT(found.text, Contains("1 of 3"));
  const RunSummary nothing = report_of({});
  CHECK(judge_reruns(reruns, first, nothing, none, {}).at(0).state == SuspicionState::unsettled);
}

TEST_CASE("a missed efficiency is neither confirmed nor cleared by the job alone") {
  NightFinding missed = suspect("a", "gemm");
  missed.kind = SuspicionKind::failed;
  missed.metric = "training.scaling_efficiency";
  const Reruns reruns = plan_reruns(three_hosts(), {{missed}, 0, 0, 0}, 3, 1000);
  RunFixture run;
  for (const PlanEntry& entry : reruns.plan.entries)
    run.job(entry.job.id, "gemm", "null").outcome(entry.job.id);
  const HistoryOf none = [](const SeriesIdentity&) { return std::vector<double>(); };
  const NightFinding found =
      judge_reruns(reruns, report_of({}), make_run_summary(run.end().records()), none, {}).at(0);
  CHECK(found.state == SuspicionState::unsettled);
}

TEST_CASE("a CPU quota is confirmed by reruns from which it withholds the CPU as well") {
  NightFinding quota = suspect("a", "gemm");
  quota.kind = SuspicionKind::cpu_quota;
  quota.metric.clear();
  const Reruns reruns = plan_reruns(three_hosts(), {{quota}, 0, 0, 0}, 3, 1000);
  const auto judged_with = [&](double throttled_s) {
    RunFixture run;
    for (const PlanEntry& entry : reruns.plan.entries) {
      Samples series = samples("value", 100, 40);
      series.quality.throttled_s = throttled_s;
      series.quality.wall_s = 1.0;
      run.job(entry.job.id, "gemm", "null").add(entry.job.id, series).outcome(entry.job.id);
    }
    const HistoryOf none = [](const SeriesIdentity&) { return std::vector<double>(); };
    return judge_reruns(reruns, report_of({}), make_run_summary(run.end().records()), none, {})
        .at(0);
  };
  const NightFinding held = judged_with(0.4);
  CHECK(held.state == SuspicionState::confirmed);
  CHECK_THAT(held.text, Contains("so it did in 3 of 3 reruns"));
  CHECK_THAT(held.next_step, Contains("raise cpu.max"));
  CHECK(judged_with(0.0).state == SuspicionState::dropped);
}

// Shares of a training's time and scaling efficiency, as results of a run and as subjects of gates.
#include "results/run/derived_results.h"

#include <cmath>

#include "results/run/run_summary.h"
#include "results/run/training_breakdown.h"
#include "tests/results/run_fixture.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

Chunk breakdown(const std::vector<std::pair<std::string, double>>& phases) {
  Json names = Json::array(), seconds = Json::array();
  for (const auto& [phase, time] : phases) {
    names.push_back(phase);
    seconds.push_back(time);
  }
  return {"breakdown", {{"phase", names}, {"seconds", seconds}}};
}

/// 20 s: 1 s of start, 15 s of steps of which 1 s of checkpoints, 4 s of evaluations and checks.
const std::vector<std::pair<std::string, double>> kPhases = {
    {"init", 1.0},       {"data", 0.75},      {"forward", 4.0},          {"backward", 6.25},
    {"optimizer", 1.5},  {"checkpoint", 1.0}, {"exchange_exposed", 1.5}, {"exchange_hidden", 4.5},
    {"evaluation", 3.0}, {"checks", 1.0}};

Samples rates(double rate, double spread = 0.01) {
  Samples made = samples("items_per_second", rate, 20, Json::object(), spread);
  made.unit = Unit::count;
  return made;
}

/// A training as a job of this name on so many ranks.
void add_training(RunFixture& run, const std::string& job, int ranks, double rate,
                  const Json& facts = Json::object()) {
  run.job(job, "train", "training", {{"workload", "llm"}, {"batch", 32}}, ranks);
  run.add(job, Facts{"training", facts});
  Samples steps = samples("step_time", 0.1);
  steps.unit = Unit::second;
  steps.better = Better::lower;
  run.add(job, steps).add(job, rates(rate)).add(job, breakdown(kPhases)).outcome(job);
}

const Result* find(const RunSummary& summary, const std::string& metric,
                   std::string_view job = "") {
  for (const Result& result : summary.results)
    if (result.series.metric == metric && (job.empty() || result.series.job == job)) return &result;
  return nullptr;
}

double value_of(const RunSummary& summary, const std::string& metric) {
  const Result* result = find(summary, metric);
  return result == nullptr ? kNoValue : result->series.median;
}

}  // namespace

TEST_CASE("a breakdown separates steps from start, evaluations and concurrent work") {
  const Chunk chunk = breakdown(kPhases);
  const TrainingBreakdown times(&chunk);
  CHECK(times.run_seconds() == Approx(19.0));
  CHECK(times.step_seconds() == Approx(15.0));
  CHECK(times.exposed_communication() == Approx(1.5));
  CHECK(times.communication() == Approx(6.0));
  CHECK(times.seconds("no such phase") == 0.0);
  CHECK(TrainingBreakdown(nullptr).empty());
}

TEST_CASE("the shares of a training follow from its breakdown") {
  RunFixture run;
  add_training(run, "t", 2, 1000.0);
  const RunSummary summary = make_run_summary(run.records());
  CHECK(value_of(summary, "training.data_stall") == Approx(0.05));
  CHECK(value_of(summary, "training.exposed_communication") == Approx(0.1));
  CHECK(value_of(summary, "training.overlap_ratio") == Approx(0.75));
  CHECK(value_of(summary, "training.goodput") == Approx(14.0 / 20.0));
  const Series& series = find(summary, "training.goodput")->series;
  CHECK(series.derived);
  CHECK(series.n == 1);
  CHECK(series.clean == 1);
  CHECK(series.unit == Unit::ratio);
  CHECK(summary.exit_code == ExitCode::ok);
}

TEST_CASE("a share that the records do not say is left out, not zero") {
  SECTION("a rank alone does not communicate") {
    RunFixture run;
    add_training(run, "t", 1, 1000.0);
    const RunSummary summary = make_run_summary(run.records());
    CHECK(value_of(summary, "training.exposed_communication") == 0.0);
    CHECK(find(summary, "training.overlap_ratio") == nullptr);
    CHECK(find(summary, "training.data_stall") != nullptr);
  }
  SECTION("lookups count as data time") {
    RunFixture run;
    add_training(run, "t", 1, 1000.0, {{"table_threads", 2}});
    CHECK(find(make_run_summary(run.records()), "training.data_stall") == nullptr);
  }
  SECTION("a resumed training lost an unknown time") {
    RunFixture run;
    add_training(run, "t", 1, 1000.0, {{"resumed_from_step", 100}});
    const RunSummary summary = make_run_summary(run.records());
    CHECK(find(summary, "training.goodput") == nullptr);
    CHECK(find(summary, "training.data_stall") != nullptr);
  }
  SECTION("the start-up is unknown, or in the facts") {
    const Chunk chunk = breakdown({{"forward", 6.0}, {"evaluation", 2.0}});
    const TrainingBreakdown times(&chunk);
    CHECK(std::isnan(time_shares(times, 1, Json::object()).goodput));
    CHECK(time_shares(times, 1, {{"init_seconds", 2.0}}).goodput == Approx(0.6));
  }
  SECTION("a log without phases") {
    const Chunk chunk = breakdown({{"init", 1.0}, {"other", 8.0}, {"evaluation", 1.0}});
    const TimeShares shares = time_shares(TrainingBreakdown(&chunk), 4, Json::object());
    CHECK(std::isnan(shares.data_stall));
    CHECK(std::isnan(shares.exposed_communication));
    CHECK(std::isnan(shares.goodput));  // what lies between the blocks is no time of steps
  }
  SECTION("a training that failed") {
    RunFixture run;
    run.job("t", "train", "training").add("t", rates(1000.0)).add("t", breakdown(kPhases));
    run.outcome("t", Status::failed, "killed");
    CHECK(find(make_run_summary(run.records()), "training.goodput") == nullptr);
  }
  SECTION("corrupt phases") {
    const Chunk chunk{"breakdown", {{"phase", {"forward", 7}}, {"seconds", "none"}}};
    CHECK(TrainingBreakdown(&chunk).empty());
    CHECK(std::isnan(time_shares(TrainingBreakdown(&chunk), 2, "no facts").goodput));
  }
}

TEST_CASE("scaling efficiency compares ranks of a case with the fewest") {
  RunFixture run;
  add_training(run, "one", 1, 1000.0);
  add_training(run, "four", 4, 3200.0);
  const RunSummary summary = make_run_summary(run.records());
  CHECK(find(summary, "training.scaling_efficiency", "one") == nullptr);
  const Result* four = find(summary, "training.scaling_efficiency", "four");
  REQUIRE(four != nullptr);
  CHECK(four->series.median == Approx(0.8));
  CHECK(four->series.low < 0.8);
  CHECK(four->series.high > 0.8);
  CHECK(four->series.low > 0.78);
  CHECK(four->series.ranks == 4);
}

TEST_CASE("trainings that differ in more than ranks have no scaling efficiency") {
  RunFixture run;
  run.job("a", "train", "training", {{"batch", 32}}, 1).add("a", rates(1000.0)).outcome("a");
  run.job("b", "train", "training", {{"batch", 64}}, 2).add("b", rates(1800.0)).outcome("b");
  run.job("c", "other", "training", {{"batch", 32}}, 2).add("c", rates(1800.0)).outcome("c");
  CHECK(find(make_run_summary(run.records()), "training.scaling_efficiency") == nullptr);
}

TEST_CASE("each host has its own fewest ranks, except in jobs over several") {
  RunFixture run;
  const auto add = [&](const std::string& job, const Json& hosts, int ranks, double rate) {
    run.job(job, "train", "training", {{"batch", 32}}, ranks).add(job, rates(rate)).outcome(job);
    run.plan["jobs"].back()["hosts"] = hosts;
  };
  add("a1", {"a"}, 1, 1000.0);
  add("a8", {"a"}, 8, 8000.0);
  add("b1", {"b"}, 1, 800.0);
  add("b8", {"b"}, 8, 6400.0);
  const RunSummary alone = make_run_summary(run.records());
  CHECK(find(alone, "training.scaling_efficiency", "a8")->series.median == Approx(1.0));
  CHECK(find(alone, "training.scaling_efficiency", "b8")->series.median == Approx(1.0));
  CHECK(find(alone, "training.scaling_efficiency", "b8")->series.params["base_ranks"] == 1);
  add("ab", {"a", "b"}, 16, 12000.0);
  const RunSummary ladder = make_run_summary(run.records());
  CHECK(find(ladder, "training.scaling_efficiency", "ab")->series.median ==
        Approx(12000.0 / 16.0 / 900.0));
}

TEST_CASE("disturbed jobs are no base where clean ones are") {
  RunFixture run;
  add_training(run, "one", 1, 1000.0);
  run.job("slow", "train", "training", {{"workload", "llm"}, {"batch", 32}}, 1);
  Samples stolen = rates(500.0);
  stolen.flags.assign(stolen.flags.size(), kStolen);
  run.add("slow", stolen).outcome("slow");
  add_training(run, "two", 2, 1800.0);
  const RunSummary summary = make_run_summary(run.records());
  CHECK(find(summary, "training.scaling_efficiency", "two")->series.median == Approx(0.9));
}

TEST_CASE("a job whose figure is unknown does not pass the gate of the others") {
  RunFixture run;
  add_training(run, "whole", 1, 1000.0);
  add_training(run, "resumed", 1, 1000.0, {{"resumed_from_step", 100}});
  run.plan["gates"] = {{"train", {{{"metric", "goodput"}, {"min", 0.5}}}}};
  const RunSummary summary = make_run_summary(run.records());
  REQUIRE(summary.gates.size() == 2);
  CHECK(summary.gates[0].verdict == Verdict::pass);
  CHECK(summary.gates[1].verdict == Verdict::inconclusive);
  CHECK(summary.gates[1].reason == "unknown for job resumed");
  CHECK(summary.exit_code == ExitCode::not_measured);
}

TEST_CASE("a gate takes a derived figure, and fails on it") {
  RunFixture run;
  add_training(run, "one", 1, 1000.0);
  add_training(run, "four", 4, 3200.0);
  const auto judged = [&](const Json& gate) {
    run.plan["gates"] = {{"train", {gate}}};
    return make_run_summary(run.records());
  };
  const RunSummary missed = judged({{"metric", "scaling_efficiency"}, {"min", 0.9}});
  REQUIRE(missed.gates.size() == 1);
  CHECK(missed.gates[0].verdict == Verdict::fail);
  CHECK(missed.exit_code == ExitCode::failed);
  CHECK(judged({{"metric", "scaling_efficiency"}, {"min", 0.7}}).exit_code == ExitCode::ok);
  CHECK(judged({{"metric", "data_stall"}, {"max", 0.04}}).exit_code == ExitCode::failed);
  CHECK(judged({{"metric", "data_stall"}, {"max", 0.06}}).exit_code == ExitCode::ok);
}

TEST_CASE("a derived figure of disturbed samples proves nothing") {
  RunFixture run;
  run.job("t", "train", "training", Json::object(), 2);
  Samples stolen = rates(1000.0);
  stolen.flags.assign(stolen.flags.size(), kStolen);
  run.add("t", stolen).add("t", breakdown(kPhases)).outcome("t");
  run.plan["gates"] = {{"train", {{{"metric", "goodput"}, {"min", 0.9}}}}};
  const RunSummary summary = make_run_summary(run.records());
  CHECK(summary.gates.at(0).verdict == Verdict::inconclusive);
  CHECK(summary.gates.at(0).reason == "no clean samples");
}

}  // namespace bench

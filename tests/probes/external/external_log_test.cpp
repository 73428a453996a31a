// What the lines of a foreign training's log come to, and how it is judged.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "core/mllog.h"
#include "probes/external/training_log.h"
#include "probes/external/verdict.h"
#include "tests/support/catch.h"

using namespace bench;
using namespace bench::external;
using Catch::Matchers::Contains;

namespace {

constexpr std::int64_t kBegin = 1'700'000'000'000;

/// A log being written: each line at a second of its own clock, seen at once.
struct Script {
  TrainingLog log;
  int rank = 0;
  double late = 0.0;          // seconds between a line's time and its arrival
  std::int64_t ahead_ms = 0;  // of its clock

  explicit Script(Goal goal) : log(std::move(goal)) {}

  Script& line(double second, const std::string& key, Json value = nullptr, Json metadata = {}) {
    LoggedLine logged;
    logged.line.time_ms = kBegin + ahead_ms + std::llround(second * 1e3);
    logged.line.key = key;
    if (key.ends_with("_start")) logged.line.event = MllogEvent::interval_start;
    if (key.ends_with("_stop")) logged.line.event = MllogEvent::interval_end;
    logged.line.value = std::move(value);
    logged.line.metadata = metadata.is_null() ? Json::object() : std::move(metadata);
    logged.rank = rank;
    logged.arrived = Seconds{second + late};
    logged.arrived_ns = (kBegin + std::llround((second + late) * 1e3)) * 1'000'000;
    log.add(logged);
    return *this;
  }
  Script& evaluate(double second, double samples, double value) {
    return line(second, "eval_accuracy", value, {{"samples_count", samples}});
  }
  Script& stop(double second, const std::string& status) {
    return line(second, "run_stop", nullptr, {{"status", status}});
  }
};

Goal accuracy(double target) { return {"eval_accuracy", target, false, {}}; }

FinishedRun ended_well() {
  FinishedRun run;
  CommandReport command;
  command.host = "n1";
  command.end.known = true;
  run.commands = {command};
  return run;
}

Script good() {
  Script script(accuracy(0.75));
  script.line(0, "init_start").line(10, "run_start");
  script.evaluate(20, 100, 0.5).evaluate(32, 200, 0.8).stop(33, "success");
  return script;
}

bool check_held(const Verdict& verdict, const std::string& name) {
  for (const TrainingCheck& check : verdict.checks)
    if (check.check == name) return check.held;
  FAIL("no check " << name);
  return false;
}

double seconds_of(const TrainingLog& log, const std::string& phase) {
  for (const LoggedPhase& one : log.breakdown())
    if (one.phase == phase) return one.time.value;
  return std::nan("");
}

}  // namespace

TEST_CASE("a foreign run's clock goes from its first run_start to its first run_stop") {
  Script script = good();
  script.rank = 1;
  script.line(11, "run_start").stop(35, "success");  // each rank logs
  CHECK(script.log.run_time()->value == Approx(23.0));
  CHECK(script.log.init_time()->value == Approx(10.0));
  REQUIRE(script.log.meeting() != nullptr);
  CHECK(script.log.samples_at(*script.log.meeting()) == 200.0);
  CHECK(script.log.time_at(*script.log.meeting())->value == Approx(22.0));
  const Verdict verdict = judge(script.log, ended_well());
  CHECK(to_string(verdict.status) == "ok");
  CHECK(verdict.converged);
}

TEST_CASE("an evaluation that several ranks log appears once") {
  Script script = good();
  for (script.rank = 1; script.rank < 8; ++script.rank) script.evaluate(20, 100, 0.5);
  CHECK(script.log.evaluations().size() == 2);
}

TEST_CASE("a rank whose run_stop says otherwise is not outvoted") {
  Script script = good();
  script.rank = 1;
  script.stop(33, "aborted");
  CHECK(script.log.status() == "aborted");
  CHECK_FALSE(judge(script.log, ended_well()).converged);
}

TEST_CASE("an evaluation after run_stop, or before run_start, meets no target") {
  for (const double second : {5.0, 40.0}) {
    Script script(accuracy(0.75));
    script.line(10, "run_start").stop(33, "success").evaluate(second, 200, 0.8);
    CHECK(script.log.meeting() == nullptr);
    CHECK_FALSE(check_held(judge(script.log, ended_well()), "run_stop"));
  }
}

TEST_CASE("a quality that is not a number meets no target, in either direction") {
  for (const bool lower : {false, true}) {
    const Goal goal{"eval_accuracy", 0.75, lower, {}};
    CHECK_FALSE(goal.met_by(std::nan("")));
    CHECK(goal.met_by(0.75));
    CHECK(goal.met_by(lower ? 0.7 : 0.8));
    CHECK_FALSE(goal.met_by(lower ? 0.8 : 0.7));
    CHECK(goal.gap(lower ? 0.7 : 0.8) == Approx(-0.05));
  }
  Script script(accuracy(0.75));
  script.line(10, "run_start").line(20, "eval_accuracy", "0.9", {{"samples_count", 1}});
  script.stop(21, "success");
  CHECK(script.log.meeting() == nullptr);
}

TEST_CASE("epochs become samples by what was given, else by the log's train_samples") {
  Goal goal = accuracy(0.75);
  Script logged(goal);
  logged.line(0, "train_samples", 4000).line(10, "run_start");
  logged.line(20, "eval_accuracy", 0.8, {{"epoch_num", 0.5}});
  CHECK(logged.log.samples_at(logged.log.evaluations().at(0)) == 2000.0);
  goal.samples_per_epoch = 1000.0;
  Script given(goal);
  given.line(20, "eval_accuracy", 0.8, {{"epoch_num", 0.5}});
  CHECK(given.log.samples_at(given.log.evaluations().at(0)) == 500.0);
  Script neither(accuracy(0.75));
  neither.line(20, "eval_accuracy", 0.8, {{"epoch_num", 0.5}});
  CHECK_FALSE(neither.log.samples_at(neither.log.evaluations().at(0)));
}

TEST_CASE("samples below zero or beyond all are none, and give no throughput") {
  Script script({"eval_accuracy", 0.75, false, 1e308});
  script.line(10, "run_start").evaluate(20, -100, 0.8);
  script.line(21, "eval_accuracy", 0.8, {{"epoch_num", 1e10}});
  for (const LoggedEvaluation& one : script.log.evaluations())
    CHECK_FALSE(script.log.samples_at(one));
  script.evaluate(10.001, 1.7e308, 0.8).stop(33, "success");
  CHECK(script.log.throughput().values.empty());
}

TEST_CASE("an init_start after run_start has no time") {
  Script script(accuracy(0.75));
  script.line(10, "run_start").line(12, "init_start").stop(33, "success");
  CHECK_FALSE(script.log.init_time());
  for (const LoggedPhase& phase : script.log.breakdown()) CHECK(phase.phase != "init");
}

TEST_CASE("throughput is what tracked_stats say, else samples between evaluations") {
  Script script = good();
  CHECK(script.log.throughput().source == "evaluations");
  CHECK(script.log.throughput().values == std::vector{100.0 / 10.0, 100.0 / 12.0});
  script.line(30, "tracked_stats", {{"throughput", 25.5}, {"reduced_train_loss", 3.0}});
  script.line(31, "tracked_stats", {{"throughput", std::nan("")}});
  CHECK(script.log.throughput().source == "tracked_stats");
  CHECK(script.log.throughput().values == std::vector{25.5});
  script.evaluate(32.5, 300, 0.81);
  CHECK(script.log.evaluations().back().loss == 3.0);
}

TEST_CASE("the phases of a foreign run add up to it, however its intervals lie") {
  Script script(accuracy(0.75));
  script.line(0, "init_start").line(10, "run_start").line(10, "epoch_start");
  script.line(20, "eval_start").line(23, "eval_stop");  // inside the epoch
  script.rank = 1;
  script.line(20, "eval_start").line(24, "eval_stop");  // the same, on a slower rank
  script.rank = 0;
  script.line(40, "epoch_stop").line(41, "eval_start").stop(50, "success");
  script.line(55, "eval_stop");  // ends after the run
  CHECK(seconds_of(script.log, "init") == Approx(10.0));
  CHECK(seconds_of(script.log, "evaluation") == Approx(4.0 + 9.0));
  CHECK(seconds_of(script.log, "train") == Approx(30.0 - 4.0));
  CHECK(seconds_of(script.log, "other") == Approx(1.0));
}

TEST_CASE("an evaluation that is logged as a point in time still takes time") {
  Script script(accuracy(0.75));
  script.line(10, "run_start");
  LoggedLine start;
  start.line.key = "eval_start";
  start.line.time_ms = kBegin + 12'000;
  script.log.add(start);
  script.line(14, "eval_stop").stop(20, "success");
  CHECK(seconds_of(script.log, "evaluation") == Approx(2.0));
}

TEST_CASE("a log that goes on for ever does not fill a record") {
  Script script(accuracy(0.75));
  for (int i = 0; i < 50'010; ++i) script.evaluate(20, i, 0.5);
  CHECK(script.log.evaluations().size() == 50'000);
  script.line(1, "hymn", std::string(100'000, 'x')).line(1, "list", Json::array({1, 2}));
  for (int i = 0; i < 1000; ++i) script.line(1, "key" + std::to_string(i), i);
  CHECK(script.log.said().size() == 300);
  CHECK(script.log.dropped() == 10 + 2 + 700);
}

TEST_CASE("the seed that was given must be among those that ranks log") {
  Script script = good();
  script.line(1, "seed", 5).line(1, "seed", 1).line(1, "seed", 2);
  CHECK(check_held(judge(script.log, ended_well()), "seed"));
  FinishedRun other = ended_well();
  other.seed = 9;
  CHECK_FALSE(check_held(judge(script.log, other), "seed"));
}

TEST_CASE("a damaged line of a log is trouble, and the mere word is not") {
  Script script = good();
  script.log.add_trouble(":::MLLOG Weight initialization: dict_keys([])", "not valid JSON");
  CHECK(script.log.mentions() == 1);
  CHECK(judge(script.log, ended_well()).converged);
  script.log.add_trouble("0: :::MLLOG {\"key\": ", "cut");
  const Verdict verdict = judge(script.log, ended_well());
  CHECK_FALSE(check_held(verdict, "mllog"));
  CHECK_FALSE(verdict.converged);
}

TEST_CASE("a clock that is off by more than a second is reported, with both times") {
  Script script(accuracy(0.75));
  script.line(10, "run_start").evaluate(20, 100, 0.8);
  script.late = 0.9;
  CHECK(check_held(judge(Script(script).stop(33, "success").log, ended_well()), "clock"));
  script.late = 1.5;
  const Verdict verdict = judge(script.stop(33, "success").log, ended_well());
  CHECK(to_string(verdict.status) == "invalid");
  CHECK_THAT(verdict.reason, Contains("23.000 s by the log and 24.500 s by arrival"));
  CHECK_FALSE(verdict.converged);
}

TEST_CASE("a clock centuries ahead, or in microseconds, is reported") {
  // 2^64 ns, rounded: what wraps round in 64 bits takes it for no difference at all.
  for (const std::int64_t ahead_ms : {INT64_C(18'446'744'073'710), 999 * kBegin}) {
    Script script(accuracy(0.75));
    script.ahead_ms = ahead_ms;
    script.line(10, "run_start").evaluate(20, 100, 0.8).stop(33, "success");
    const Verdict verdict = judge(script.log, ended_well());
    CHECK_FALSE(check_held(verdict, "clock"));
    CHECK_THAT(verdict.reason, Contains(fmt::format("arrived -{}.", ahead_ms / 1000)));
    CHECK_FALSE(verdict.converged);
  }
}

TEST_CASE("a run that ends before it starts has failed") {
  Script script(accuracy(0.75));
  script.line(10, "run_start").stop(9, "success");
  const Verdict verdict = judge(script.log, ended_well());
  CHECK(to_string(verdict.status) == "failed");
  CHECK_THAT(verdict.reason, Contains("run_stop is not after run_start"));
}

TEST_CASE("the reason names the command that failed by itself, not those ended because of it") {
  Script script = good();
  FinishedRun run = ended_well();
  run.commands[0].end.signaled = run.commands[0].end.stopped = true;
  run.commands[0].end.code = 15;
  run.commands.push_back(run.commands[0]);
  run.commands[1].rank = 1;
  run.commands[1].end = {.known = true, .code = 7};
  run.commands[1].last_output = "no space";
  const Verdict verdict = judge(script.log, run);
  CHECK(to_string(verdict.status) == "failed");
  CHECK_THAT(verdict.reason, Contains("rank 1 on n1: exit code 7; last output: no space"));
}

TEST_CASE("a command whose end nobody saw has not ended well") {
  FinishedRun run = ended_well();
  run.commands[0].end.known = false;
  const Verdict verdict = judge(good().log, run);
  CHECK(to_string(verdict.status) == "failed");
  CHECK_THAT(verdict.reason, Contains("its supervisor was killed"));
}

TEST_CASE("a process that no signal ends fails its job") {
  FinishedRun run = ended_well();
  run.commands[0].end.stuck = 2;
  const Verdict verdict = judge(good().log, run);
  CHECK(to_string(verdict.status) == "failed");
  CHECK_THAT(verdict.reason, Contains("2 processes") && Contains("could not be killed"));
}

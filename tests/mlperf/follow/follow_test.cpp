#include <unistd.h>

#include <fstream>
#include <vector>

#include "core/error.h"
#include "core/whole_file.h"
#include "mlperf/follow/follow_log.h"
#include "results/output/mlperf/progress_output.h"
#include "tests/mlperf/log_lines.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

using Catch::Matchers::Contains;

constexpr std::int64_t kStart = 1'700'000'000'000;
constexpr std::int64_t kMinute = 60'000;

std::string at_minute(double minute, const std::string& key, const std::string& value = "null",
                      const std::string& metadata = "{}") {
  return log_line(key, value, metadata, kStart + static_cast<std::int64_t>(minute * kMinute)) +
         "\n";
}

std::string evaluation(double minute, const std::string& value, int samples) {
  return at_minute(minute, "eval_accuracy", value,
                   "{\"samples_count\": " + std::to_string(samples) + "}");
}

const std::string kBegin = at_minute(0, "submission_division", "\"closed\"") +
                           at_minute(0, "submission_benchmark", "\"llama31_8b\"") +
                           at_minute(0, "init_start");
const std::string kTraining = kBegin + at_minute(5, "init_stop") + at_minute(5, "run_start") +
                              evaluation(6, "4.2", 1000) + evaluation(7, "4.0", 2000) +
                              evaluation(8, "3.9", 3000);

RunGoal goal() {
  RunGoal goal;
  goal.target = 3.8;
  goal.lower_is_better = true;
  goal.reference_mean = 4500.0;
  goal.reference_least = 4100.0;
  return goal;
}

ProgressReport report_at(double minute, const std::string& text, const RunGoal& goal) {
  return progress_of(read_log_text(text, "x"), goal,
                     static_cast<double>(kStart) + minute * kMinute);
}

}  // namespace

TEST_CASE("during initialisation the time left of the division's limit is reported") {
  const ProgressReport report = report_at(12, kBegin, goal());
  CHECK(report.phase == RunPhase::initialising);
  CHECK(*report.init_left_minutes == Approx(18.0));
  CHECK(to_text(report).find("18.0 min left") != std::string::npos);
  const ProgressReport late = report_at(31, kBegin, goal());
  CHECK(to_text(late).find("1.0 min over the limit") != std::string::npos);
  CHECK_FALSE(report_at(1, at_minute(0, "init_start"), goal()).init_left_minutes.has_value());
  CHECK(report_at(1, "", goal()).phase == RunPhase::waiting);
}

TEST_CASE("during training the distance to the target and the projected end are reported") {
  const ProgressReport report = report_at(8.5, kTraining, goal());
  CHECK(report.phase == RunPhase::training);
  CHECK(*report.run_minutes == Approx(3.5));
  CHECK(*report.distance == Approx(0.1));
  REQUIRE(report.projection.progress.has_value());
  CHECK(*report.projection.progress == Approx(5000.0));
  CHECK(*report.projected_minutes == Approx(5.0));
  CHECK(report.pace == Pace::unscaled);
  const std::string text = to_text(report);
  CHECK(text.find("0.1 from the target 3.8") != std::string::npos);
  CHECK(text.find("projected: 5000 samples, 5.00 min to train") != std::string::npos);
}

TEST_CASE("the rate between evaluations is reported, and where it became slow") {
  const auto points_at = [](std::initializer_list<double> seconds) {
    std::vector<EvaluationPoint> points;
    for (const double s : seconds)
      points.push_back({1000.0 * static_cast<double>(points.size() + 1), 1000.0 * s, 4.0});
    return points;
  };
  const EvaluationRate steady = evaluation_rate(points_at({10, 20, 30, 40}));
  CHECK(*steady.last == Approx(100.0));
  CHECK(*steady.usual == Approx(100.0));
  CHECK_FALSE(steady.slow_since);
  const EvaluationRate slow = evaluation_rate(points_at({10, 20, 30, 45, 65}));
  CHECK(*slow.last == Approx(50.0));
  CHECK(*slow.usual == Approx(100.0));
  CHECK(slow.slow_since == 3000.0);
  CHECK_FALSE(evaluation_rate(points_at({10, 20, 30, 45, 55})).slow_since);
  CHECK_FALSE(evaluation_rate(points_at({10, 20, 30, 41})).slow_since);  // 10 % only
  CHECK_FALSE(evaluation_rate(points_at({10, 20, 50})).slow_since);  // of what, is not known yet
  CHECK_FALSE(evaluation_rate(points_at({10})).last);
  CHECK_FALSE(evaluation_rate(points_at({10, 10, 10})).last);

  const std::string late = kTraining + evaluation(9, "3.85", 4000) + evaluation(11, "3.83", 5000);
  const ProgressReport report = report_at(11.5, late, goal());
  CHECK_THAT(to_text(report),
             Contains("8.333 samples/s, slower since 4000 samples, usually 16.67"));
  CHECK_THAT(to_line(report),
             Contains("training: 6.50 min of") && Contains("3.83 (target 3.8), 8.333 samples/s"));
  const std::string gauges = to_prometheus(report, "result_0.txt");
  const std::string labels = R"({log="result_0.txt",benchmark="llama31_8b"} )";
  for (const std::string& sample :
       {"running" + labels + "1", "samples" + labels + "5000", "slow" + labels + "1",
        "quality" + labels + "3.83", "target_quality" + labels + "3.8",
        "elapsed_seconds" + labels + "390", "report_timestamp_seconds" + labels + "1700000660"})
    CHECK_THAT(gauges, Contains("benchctl_training_" + sample + "\n"));
}

TEST_CASE("what a log tells between evaluations is shown as last logged") {
  GrowingLog log;
  log.feed(at_minute(6, "tracked_stats", R"({"train_loss": 0.55, "throughput": 5.75})",
                     R"({"step": 600})"));
  log.feed(at_minute(6, "tracked_stats", R"({"train_step_time": 0.5, "train_loss": NaN})",
                     R"({"step": 610})"));
  log.feed(":::MLLOG tracked_stats {\n" + at_minute(6, "other", R"({"train_loss": 9})"));
  CHECK(log.stats().step == 610.0);
  CHECK(log.stats().loss == 0.55);
  CHECK(log.stats().throughput == 5.75);
  CHECK(log.stats().step_seconds == 0.5);
  ProgressReport report = report_at(8.5, kTraining, goal());
  CHECK_THAT(to_text(report), !Contains("as logged"));
  report.stats = log.stats();
  CHECK_THAT(to_text(report),
             Contains("step 610, training loss 0.55, throughput 5.75 as logged, 500.0 ms a step"));
}

TEST_CASE("a run that converges faster than the reference gets the consequence") {
  RunGoal strict = goal();
  strict.reference_mean = 6000.0;
  CHECK(report_at(8.5, kTraining, strict).pace == Pace::scaled);
  strict.reference_least = 5500.0;
  CHECK(report_at(8.5, kTraining, strict).pace == Pace::too_fast);
  CHECK(to_text(report_at(8.5, kTraining, strict)).find("fails the convergence test") !=
        std::string::npos);
  strict.reference_least.reset();
  strict.why_no_reference = "no batch is logged";
  CHECK(to_text(report_at(8.5, kTraining, strict)).find("no batch is logged") != std::string::npos);
}

TEST_CASE("a benchmark without a target has no distance, with a reason") {
  RunGoal unknown;
  unknown.why_no_target = "the rule set does not know 'x'";
  const ProgressReport report = report_at(8.5, kTraining, unknown);
  CHECK_FALSE(report.distance.has_value());
  CHECK(to_text(report).find("does not know 'x'") != std::string::npos);
  const Json json = to_json(report);
  CHECK(json["distance"] == nullptr);
  CHECK(json["evaluations"] == 3);
  CHECK(json["quality"] == 3.9);
}

TEST_CASE("a log is followed until the run stops, including torn lines") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "result_0.txt";
  const std::string text = kTraining + evaluation(9, "3.79", 4000) +
                           at_minute(9, "run_stop", "null", R"({"status": "success"})");
  std::ofstream file(path);
  file << text.substr(0, 100) << std::flush;
  std::size_t written = 100;
  std::vector<ProgressReport> reports;
  FollowCallbacks callbacks;
  callbacks.goal = [](const Log&) { return goal(); };
  callbacks.report = [&](const ProgressReport& report, bool changed) {
    if (changed) reports.push_back(report);
  };
  callbacks.now_ms = [] { return static_cast<double>(kStart) + 9.0 * kMinute; };
  callbacks.wait = [&] {
    if (written >= text.size()) return false;
    file << text.substr(written, 50) << std::flush;
    written += 50;
    return true;
  };
  CHECK(follow_log(path, callbacks));
  REQUIRE(reports.size() ==
          9);  // waiting, initialising, initialised, training, 4 evaluations, stopped
  CHECK(reports.front().phase == RunPhase::waiting);
  CHECK(reports.back().phase == RunPhase::stopped);
  CHECK(reports.back().status == "success");
  CHECK(*reports.back().run_minutes == Approx(4.0));
  CHECK(*reports.back().distance <= 0.0);
  CHECK(to_text(reports.back()).find("stopped: success") != std::string::npos);
}

TEST_CASE("a restarted log is read from its start, and waiting can end") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "result_0.txt";
  replace_file(path, kTraining);
  std::vector<ProgressReport> reports;
  FollowCallbacks callbacks;
  callbacks.goal = [](const Log&) { return goal(); };
  callbacks.report = [&](const ProgressReport& report, bool changed) {
    if (changed) reports.push_back(report);
  };
  callbacks.now_ms = [] { return static_cast<double>(kStart) + 9.0 * kMinute; };
  int waits = 0;
  callbacks.wait = [&] {
    if (waits == 0) replace_file(path, kBegin);  // another file with the same name
    if (waits == 1) CHECK(::truncate(path.c_str(), 0) == 0);
    return ++waits < 4;
  };
  CHECK_FALSE(follow_log(path, callbacks));
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].phase == RunPhase::training);
  CHECK(reports[1].phase == RunPhase::initialising);
  CHECK(reports[2].phase == RunPhase::waiting);
  CHECK_THROWS_AS(follow_log(folder.path() / "none", callbacks), Error);
}

}  // namespace bench::mlperf

// What a run shows of its trainings while they run.
#include "runner/dispatch/training_view.h"

#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

PlanEntry viewed_entry() {
  PlanEntry entry;
  entry.job.id = "02.train.0";
  entry.job.case_name = "train";
  entry.job.hosts = {"node01", "node02"};
  entry.axes = {{"seed", 3}};
  return entry;
}

TrainingProgress viewed_progress() {
  return {.step = 1200,
          .last_step = 4000,
          .seconds = 61.5,
          .item = "token",
          .items_per_second = 34'560.0,
          .step_s = 0.05,
          .loss = 2.3125,
          .gap = 0.1421,
          .target = 0.12,
          .mfu = 0.41};
}

Record viewed_event(const char* key, Json value) {
  Record record;
  record.job = "02.train.0";
  record.time_ns = 1'700'000'000'500'000'000;
  record.body = Event{key, std::move(value)};
  return record;
}

}  // namespace

TEST_CASE("a training's progress is one line, and gauges with the run's labels") {
  TrainingView view;
  view.start(viewed_entry());
  const auto news =
      view.take("02.train.0", viewed_event(kTrainingProgressEvent, to_json(viewed_progress())));
  REQUIRE(news);
  CHECK(
      news->line ==
      "step 1200/4000, 34.56 k tokens/s, gap 0.1421 (to 0.12), < 3 min left, MFU 41 %, loss 2.312");
  CHECK(news->notice.empty());
  const std::string gauges = view.gauges("r1");
  const std::string labels =
      R"({run="r1",case="train",job="02.train.0",params="{\"seed\":3}",hosts="node[01-02]"})";
  for (const char* sample : {"running", "step", "last_step", "elapsed_seconds", "loss", "gap",
                             "target_gap", "mfu_ratio", "slow", "report_timestamp_seconds"})
    CHECK_THAT(gauges, Contains(std::string("benchctl_training_") + sample + labels));
  CHECK_THAT(gauges, Contains("benchctl_training_step" + labels + " 1200\n") &&
                         Contains("item=\"token\"} 34560\n") &&
                         Contains("# TYPE benchctl_training_loss gauge"));
  CHECK_THAT(gauges, !Contains("slow_since_step") && !Contains("training_quality"));
}

TEST_CASE("slowdowns are said at once, stay in the line while they last, and end") {
  TrainingView view;
  view.start(viewed_entry());
  view.take("02.train.0", viewed_event(kTrainingProgressEvent, to_json(viewed_progress())));
  TrainingSlowdown slowdown{.first = 900, .usual_s = 0.05, .slow_s = 0.085, .phase = "lane_wait"};
  auto news = view.take("02.train.0", viewed_event(kTrainingSlowdownEvent, to_json(slowdown)));
  REQUIRE(news);
  CHECK(
      news->notice ==
      "steps are slower since step 900: 85.00 ms instead of 50.00 ms (+70 %), mostly in lane wait");
  CHECK_THAT(news->line, Contains("slow since step 900 (+70 %)"));
  CHECK_THAT(view.gauges("r1"), Contains("benchctl_training_slow_since_step"));
  slowdown.end = 1300;
  news = view.take("02.train.0", viewed_event(kTrainingSlowdownEvent, to_json(slowdown)));
  CHECK_THAT(news->notice, Contains("steps 900 to 1299 were slower"));
  CHECK_THAT(news->line, !Contains("slow since"));
}

TEST_CASE("a training that others wrote is shown by the evaluations in its log") {
  TrainingView view;
  view.start(viewed_entry());
  const auto evaluation = [](double value, double samples, std::int64_t time_ms) {
    return viewed_event("mllog", {{"key", "eval_accuracy"},
                                  {"value", value},
                                  {"time_ms", time_ms},
                                  {"metadata", {{"samples_count", samples}}}});
  };
  CHECK_FALSE(view.take("02.train.0", viewed_event("mllog", {{"key", "block_start"}})));
  CHECK(view.take("02.train.0", evaluation(5.5, 1e6, 1'000'000))->line ==
        "eval_accuracy 5.5 after 1 M samples");
  CHECK(view.take("02.train.0", evaluation(4.25, 3e6, 1'010'000))->line ==
        "eval_accuracy 4.25 after 3 M samples, 200 k samples/s");
  CHECK_THAT(view.gauges("r1"), Contains("benchctl_training_quality") && Contains("} 4.25\n") &&
                                    !Contains("benchctl_training_step"));
}

TEST_CASE("damaged events and events of unknown jobs are no news") {
  TrainingView view;
  const Json good = to_json(viewed_progress());
  CHECK_FALSE(view.take("02.train.0", viewed_event(kTrainingProgressEvent, good)));
  view.start(viewed_entry());
  for (const char* key : {"step", "last_step", "seconds", "items_per_second", "step_s"}) {
    Json damaged = good;
    damaged[key] = "many";
    CHECK_FALSE(view.take("02.train.0", viewed_event(kTrainingProgressEvent, damaged)));
    damaged[key] = -1;
    CHECK_FALSE(view.take("02.train.0", viewed_event(kTrainingProgressEvent, damaged)));
  }
  for (const Json& value : {Json(), Json("text"), Json::array({1}), Json{{"first", 5}, {"end", 5}}})
    CHECK_FALSE(view.take("02.train.0", viewed_event(kTrainingSlowdownEvent, value)));
  CHECK_FALSE(view.take("02.train.0", Record{"02.train.0", "", 0, 0, Outcome{}}));
  CHECK_FALSE(view.finish("02.train.0"));
}

TEST_CASE("a training that has ended runs no longer, and its last values stay") {
  TrainingView view;
  view.start(viewed_entry());
  view.take("02.train.0", viewed_event(kTrainingProgressEvent, to_json(viewed_progress())));
  CHECK(view.finish("02.train.0"));
  const std::string gauges = view.gauges("r1");
  const std::size_t running = gauges.find("\nbenchctl_training_running{run=\"r1\"");
  REQUIRE(running != std::string::npos);
  CHECK(gauges.substr(running + 1, gauges.find('\n', running + 1) - running - 1).ends_with("} 0"));
  CHECK_THAT(gauges, Contains("benchctl_training_step{run=\"r1\""));
}

}  // namespace bench

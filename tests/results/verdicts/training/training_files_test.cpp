// MLPerf logs from events, and the measured peak for MFU.
#include "core/mllog.h"
#include "results/verdicts/training/mllog_files.h"
#include "results/verdicts/training/training_report.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json mllog_event(const char* key, const Json& value) {
  MllogLine made;
  made.time_ms = 1759858994891;
  made.key = key;
  made.value = value;
  made.metadata = {{"samples_count", 512}, {"lineno", 3}, {"file", "t.py"}};
  return to_json(made);
}

std::vector<RunRecords> two_logged_runs() {
  TrainingFixture fixture;
  fixture.add({.seed = 1}).add({.seed = 2});
  fixture.run.add("t2", Event{kMllogEvent, mllog_event("seed", 2)});
  fixture.run.add("t1", Event{kMllogEvent, mllog_event("seed", 1)});
  fixture.run.add("t1", Event{kMllogEvent, mllog_event("eval_accuracy", 0.11)});
  fixture.run.add("t1", Event{kMllogEvent, {{"key", "no line"}}});
  return {fixture.records()};
}

SeriesRow gemm_row(const char* dtype, int threads, double flops, const char* device = "host") {
  return {"run1", device, {{"dtype", dtype}, {"threads", threads}}, flops};
}

}  // namespace

TEST_CASE("each training's lines become a file in MLPerf's layout and order of fields") {
  const TemporaryDirectory folder;
  const auto texts = mllog_texts(two_logged_runs());
  REQUIRE(texts.size() == 2);
  CHECK_THAT(texts[0].trouble, Contains("1 lines skipped"));
  CHECK(texts[1].trouble.empty());
  const auto files = write_mllog(folder.path() / "llm", texts);
  REQUIRE(files.size() == 2);
  CHECK(files[1].filename() == "result_1.txt");
  CHECK(read_file(files[0]) ==
        ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1759858994891, \"event_type\": "
        "\"POINT_IN_TIME\", \"key\": \"seed\", \"value\": 1, \"metadata\": {\"file\": \"t.py\", "
        "\"lineno\": 3, \"samples_count\": 512}}\n"
        ":::MLLOG {\"namespace\": \"\", \"time_ms\": 1759858994891, \"event_type\": "
        "\"POINT_IN_TIME\", \"key\": \"eval_accuracy\", \"value\": 0.11, \"metadata\": {\"file\": "
        "\"t.py\", \"lineno\": 3, \"samples_count\": 512}}\n");
}

TEST_CASE("the log of a resumed training is marked, because it lacks the time before") {
  for (const Json& step : {Json(), Json(120)}) {
    TrainingFixture fixture;
    const std::string job = fixture.plan({}, TrainingFixture::params_of({}));
    fixture.run.add(job, Event{kMllogEvent, mllog_event("seed", 1)});
    fixture.run.add(job, Facts{"training", TrainingFixture::facts_of({.resumed_from = step})});
    const MllogText text = mllog_texts(std::vector<RunRecords>{fixture.records()}).at(0);
    CHECK(text.resumed == !step.is_null());
    CHECK(text.trouble.empty() == step.is_null());
  }
}

TEST_CASE("an existing log is not overwritten, and no file is written") {
  const TemporaryDirectory folder;
  write_text(folder.path() / "result_1.txt", "mine");
  CHECK_THROWS_WITH(write_mllog(folder.path(), mllog_texts(two_logged_runs())),
                    Contains("result_1.txt"));
  CHECK(read_file(folder.path() / "result_1.txt") == "mine");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "result_0.txt"));
}

TEST_CASE("lines before a training's restart are not in its log") {
  TrainingFixture fixture;
  fixture.add({});
  fixture.run.add("t1", Event{kMllogEvent, mllog_event("seed", 1)});
  fixture.run.add("t1", Event{kRestartEvent, Json::object()});
  CHECK(mllog_texts(std::vector<RunRecords>{fixture.records()}).empty());
}

TEST_CASE("the measured peak uses the same dtype and threads, over all hosts") {
  TrainingSetup setup;
  setup.dtype = "f32";
  setup.device = "host";
  setup.lanes = 2;
  setup.ranks = 4;
  setup.on = {"node1", "node2"};
  const auto rows = [](const std::string& metric, const std::string& host) {
    CHECK(metric == "gemm.throughput");
    if (host == "node2") return std::vector{gemm_row("f32", 4, 3e11), gemm_row("f32", 4, 4e11)};
    return std::vector{gemm_row("f32", 1, 9e12), gemm_row("bf16", 4, 9e12),
                       gemm_row("f32", 4, 2e11), gemm_row("f32", 4, 9e12, "cuda")};
  };
  CHECK(measured_peak(setup, rows).flops == Approx(6e11));
  setup.lanes = 1;
  const MeasuredPeak none = measured_peak(setup, rows);
  CHECK(std::isnan(none.flops));
  CHECK_THAT(none.source, Contains("2 threads in f32 on node1"));
  setup.device = "cuda";
  setup.on = {"node1"};
  CHECK(measured_peak(setup, rows).flops == Approx(4 * 9e12));
}

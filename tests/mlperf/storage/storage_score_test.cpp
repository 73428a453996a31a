#include "mlperf/storage/storage_score.h"

#include "core/whole_file.h"
#include "tests/mlperf/storage/made_submission.h"
#include "tests/support/catch.h"

namespace bench::mlperf::storage {
namespace {

double figure(const StorageScore& score, const std::string& name) {
  for (const StorageFigure& one : score.figures)
    if (one.name == name) return one.value;
  FAIL("there is no figure " << name);
  return 0.0;
}

StorageScore only_score(const MadeSubmission& made) {
  const StorageReport report = made.report();
  REQUIRE(report.workloads.size() == 1);
  return report.workloads[0].score;
}

TEST_CASE("a training's score is the mean of the runs after the first, in GiB/s") {
  MadeSubmission made;
  made.add_training();
  const StorageScore score = only_score(made);
  CHECK(figure(score, "read") == Approx(500.0 * 322957 / 1048576 / 1024));
  CHECK(figure(score, "samples") == Approx(500.0));
  CHECK(score.runs == "5 of 6: the first one warms up");
  change(made.runs("training/retinanet/run")[5] / "summary.json",
         [](Json& json) { json["metric"].erase("train_io_mean_MB_per_second"); });
  const StorageScore without = only_score(made);
  CHECK(without.problem == "a run has no train_io_mean_MB_per_second");
}

TEST_CASE("a checkpointing's rates are those of its invocations, together or apart") {
  for (const bool split : {false, true}) {
    MadeSubmission made;
    if (split)
      made.add_split_checkpointing();
    else
      made.add_checkpointing();
    const StorageScore score = only_score(made);
    CHECK(figure(score, "write") == Approx(104.70452117919922));
    CHECK(figure(score, "read") == Approx(104.70452117919922));
    CHECK(figure(score, "write time") == Approx(1.0));
    CHECK(score.problem.empty());
  }
}

TEST_CASE("a KV cache's rates are sums over ranks, averaged over trials, of the newest whole run") {
  MadeSubmission made;
  made.add_kv_cache();
  StorageScore score = only_score(made);
  CHECK(figure(score, "option 1 read") == Approx(2.0));
  CHECK(figure(score, "option 3 write") == Approx(1.0));
  CHECK(figure(score, "option 2 read P95") == Approx(3.0));  // the largest
  const auto first = made.runs("kv_cache/llama3.1-8b/run")[0];
  const auto later = first.parent_path() / "20260702_000000";
  std::filesystem::copy(first, later, std::filesystem::copy_options::recursive);
  change(later / "summary.json", [](Json& json) { json["partial_failure"] = true; });
  CHECK(only_score(made).runs == "20260701_030000 of 2");
}

TEST_CASE("a vector database's rate is the mean of its runs, and the first run's is told") {
  MadeSubmission made;
  made.add_vector_database();
  change(made.runs("vector_database/milvus/HNSW/run")[0] / "summary.json",
         [](Json& json) { json["throughput_qps"] = 500.0; });
  const StorageScore score = only_score(made);
  CHECK(figure(score, "queries") == Approx(900.0));
  CHECK(figure(score, "queries of the first run") == Approx(500.0));
  CHECK(figure(score, "recall") == Approx(90.0));
}

}  // namespace
}  // namespace bench::mlperf::storage

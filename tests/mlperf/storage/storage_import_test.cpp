#include "results/verdicts/published/storage_import.h"

#include <set>

#include "core/whole_file.h"
#include "results/import/imported_lines.h"
#include "results/import/imported_runs.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/compare_output.h"
#include "results/run/run_records.h"
#include "results/store/store.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/selector.h"
#include "results/verdicts/compare/side.h"
#include "tests/mlperf/storage/made_submission.h"
#include "tests/support/catch.h"
#include "tests/support/collected_import.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf::storage {
namespace {

using Catch::Matchers::Contains;

CollectedImport imported(const MadeSubmission& made) {
  CollectedImport sink;
  import_storage(made.report(Edition::closed_round), sink);
  return sink;
}

/// The mean over runs, in the units of the score.
double mean(const CollectedImport& sink, const std::string& metric, const Json& params,
            double factor) {
  std::vector<double> values;
  for (const auto& entry : sink.of(metric, params)) values.push_back(entry.samples.values.at(0));
  return mean_of(values) * factor;
}

/// Several imports into one database.
struct Imports {
  TemporaryDirectory folder;
  std::vector<ImportedRun> runs = {};

  void add(const MadeSubmission& made) {
    ImportSettings settings;
    settings.runs = folder.path() / "runs";
    settings.format = "mlperf-storage";
    settings.file = "round";
    ImportedRuns sink(settings);
    import_storage(made.report(Edition::closed_round), sink);
    for (ImportedRun& run : sink.keep()) runs.push_back(std::move(run));
  }
  Comparison between(const std::string& a, const std::string& b,
                     const std::vector<std::string>& ignored = {}) const {
    Store store = Store::open(folder.path() / "db.sqlite", Access::write);
    for (const ImportedRun& run : runs) CHECK(store.import_run(run.folder).warnings.empty());
    const Histories histories(store);
    std::vector<Side> sides = {read_side(histories, parse_selector(a, {}), {}),
                               read_side(histories, parse_selector(b, {}), {})};
    if (!ignored.empty()) ignore_parameters(sides, ignored);
    return compare(sides[0], sides[1]);
  }
};

/// A training and a vector database of a system of this name; `share` of the usual rates.
struct System : MadeSubmission {
  explicit System(const std::string& name, double share, double accelerators = 4) {
    add_training();
    add_vector_database();
    double scatter = 0.99;
    for (const auto& run : runs("training/retinanet/run"))
      change(run / "summary.json", [&](Json& json) {
        scatter += 0.003;
        const double samples = 500.0 * share * scatter;
        json["num_accelerators"] = accelerators;
        json["metric"]["train_throughput_samples_per_second"] = std::vector<double>(8, samples);
        json["metric"]["train_throughput_mean_samples_per_second"] = samples;
        json["metric"]["train_io_mean_MB_per_second"] = samples * 322957 / 1048576;
      });
    for (const auto& run : runs("vector_database/milvus/HNSW/run"))
      change(run / "summary.json", [&](Json& json) {
        scatter += 0.002;
        json["throughput_qps"] = 1000.0 * share * scatter;
        json["query_count"] = 60000.0 * share * scatter;
      });
    const auto all = root() / "closed/Acme/results";
    std::filesystem::rename(all / "sys1", all / name);
    std::filesystem::rename(root() / "closed/Acme/systems/sys1.yaml",
                            root() / ("closed/Acme/systems/" + name + ".yaml"));
  }
};

}  // namespace

TEST_CASE("the mean over imported runs is the score, for all figures of all categories") {
  MadeSubmission made;
  made.add_training();
  made.add_split_checkpointing();
  made.add_kv_cache();
  made.add_vector_database();
  change(made.runs("vector_database/milvus/HNSW/run")[0] / "summary.json",
         [](Json& json) { json["throughput_qps"] = 1200.0; });
  change(made.runs("kv_cache/llama3.1-8b/run")[0] / "summary.json", [](Json& json) {
    json["options"]["2"]["aggregated_avg_throughput_tokens_per_sec"] = 70.0;
  });
  const CollectedImport sink = imported(made);
  constexpr double kGibi = 1073741824.0;
  const Json training = {{"workload", "training"}, {"model", "retinanet"}};
  CHECK(sink.of("read_bandwidth", training).size() == 5);
  CHECK(mean(sink, "read_bandwidth", training, 1 / kGibi) ==
        Approx(500.0 * 322957 / 1048576 / 1024));
  CHECK(mean(sink, "sample_throughput", training, 1) == Approx(500.0));
  CHECK(mean(sink, "accelerator_utilization", training, 100) == Approx(90.0));
  const Json checkpoints = {{"workload", "checkpointing"}, {"accelerators", 8}};
  CHECK(sink.value("write_bandwidth", checkpoints) == Approx(104.70452117919922 * kGibi));
  CHECK(sink.value("read_time", checkpoints) == Approx(1.0));
  const Json cache = {{"workload", "kv_cache"}, {"option", 2}, {"processes", 2}};
  CHECK(sink.of("read_bandwidth", cache).size() == 3);  // trials
  CHECK(mean(sink, "read_bandwidth", cache, 1 / kGibi) == Approx(2.0));
  CHECK(mean(sink, "write_bandwidth", cache, 1 / kGibi) == Approx(1.0));
  CHECK(sink.value("read_latency_p95", cache) == Approx(0.003));
  CHECK(sink.value("token_throughput", cache) == Approx(70.0));
  const Json database = {{"model", "milvus/HNSW"}, {"vectors", 1000}, {"dimension", 8}};
  CHECK(sink.of("query_throughput", database).size() == 5);
  CHECK(mean(sink, "query_throughput", database, 1) == Approx(1040.0));
  CHECK(mean(sink, "latency_p99", database, 1000) == Approx(3.0));
  CHECK(mean(sink, "recall", database, 100) == Approx(90.0));
}

TEST_CASE("a run of a system has its workloads, dates and labels") {
  MadeSubmission made;
  made.add_training();
  made.add_vector_database();
  Imports imports;
  imports.add(made);
  REQUIRE(imports.runs.size() == 5);
  CHECK(imports.runs[0].run.starts_with("20260701T011000Z-mlperf-storage-"));  // after the warm-up
  CHECK(imports.runs[0].jobs == 2);
  CHECK(imports.runs[0].series == 6);
  const Json labels = read_json(imports.runs[0].folder / "plan.json")["labels"];
  CHECK(labels == Json{{"imported", "mlperf-storage"},
                       {"division", "closed"},
                       {"organisation", "Acme"},
                       {"repetition", "1"},
                       {"round", "3.0"},
                       {"system", "sys1"}});
  CHECK_THROWS_WITH(imports.add(made), Contains("already imported as"));
}

TEST_CASE("trials of a KV cache with equal figures are runs of their own") {
  MadeSubmission made;
  made.add_kv_cache();
  Imports imports;
  imports.add(made);
  CHECK(imports.runs.size() == 3);
}

TEST_CASE("two imports line up by workload and model, and compare says which is faster") {
  Imports imports;
  imports.add(System("slow", 1.0));
  imports.add(System("fast", 1.2));
  const Comparison found = imports.between("label:system=slow", "label:system=fast");
  CHECK(found.only_a.empty());
  CHECK(found.only_b.empty());
  std::set<std::string> improved;
  for (const ComparedMetric& metric : found.metrics)
    if (metric.verdict == ChangeVerdict::improved) improved.insert(metric.key.metric);
  CHECK(improved == std::set<std::string>{"mlperf_storage.query_throughput",
                                          "mlperf_storage.read_bandwidth",
                                          "mlperf_storage.sample_throughput"});
  const std::string text = to_terminal(to_document(found), {false, false, 200});
  CHECK_THAT(text, Contains("retinanet") && Contains("milvus/HNSW") &&
                       Contains("not verified by MLCommons"));
}

TEST_CASE("rows of another shape are compared only where the shape is ignored") {
  Imports imports;
  imports.add(System("small", 1.0));
  imports.add(System("large", 1.9, 3));  // for more of them the data would be too few
  const Comparison found = imports.between("host:Acme.small", "host:Acme.large");
  REQUIRE(found.only_a.size() == 3);
  REQUIRE(found.only_b.size() == 3);
  CHECK_THAT(found.only_a[0], Contains("accelerators 4"));
  CHECK_THAT(found.only_b[0], Contains("accelerators 3"));
  CHECK(imports.between("host:Acme.small", "host:Acme.large", {"accelerators"}).only_a.empty());
}

TEST_CASE("accelerators that waited too long make figures invalid; what is incomplete is noted") {
  MadeSubmission made;
  made.add_training();
  made.add_vector_database();
  change(made.runs("training/retinanet/run")[2] / "summary.json", [](Json& json) {
    json["metric"]["train_au_mean_percentage"] = 50.0;
    json["metric"]["train_au_percentage"] = std::vector<double>(8, 50.0);
  });
  std::filesystem::remove(made.results("training/retinanet/run/results.json"));
  const CollectedImport sink = imported(made);
  REQUIRE(sink.ends.size() == 5);
  CHECK(sink.ends[0].reason ==
        "MLPerf Storage, rule 3.3.2: the accelerators were not used enough: 50 %");
  for (const auto& entry : sink.of("read_bandwidth"))
    CHECK(entry.samples.outcome == Status::invalid);
  for (const auto& entry : sink.of("query_throughput")) CHECK(entry.samples.outcome == Status::ok);
  CHECK_THAT(sink.all(), Contains("Acme sys1, training retinanet: 2 errors, see `benchctl mlperf "
                                  "storage check "));
}

TEST_CASE("a KV cache of which a part failed has invalid figures") {
  MadeSubmission made;
  made.add_kv_cache();
  for (const auto& entry : imported(made).of("read_bandwidth"))
    CHECK(entry.samples.outcome == Status::ok);
  change(made.runs("kv_cache/llama3.1-8b/run")[0] / "summary.json",
         [](Json& json) { json["partial_failure"] = true; });
  const CollectedImport sink = imported(made);
  REQUIRE_FALSE(sink.of("read_bandwidth").empty());
  for (const auto& entry : sink.of("read_bandwidth"))
    CHECK(entry.samples.outcome == Status::invalid);
  CHECK(sink.ends[0].reason == "MLPerf Storage: a part of the run failed");
}

TEST_CASE("two workloads of the same names are not mixed") {
  MadeSubmission made;
  made.add_kv_cache();
  const auto twice = made.root().parent_path() / (made.root().filename().string() + ".twice");
  std::filesystem::remove_all(twice);
  std::filesystem::create_directories(twice);
  for (const char* month : {"june", "july"})
    std::filesystem::copy(made.root(), twice / month, std::filesystem::copy_options::recursive);
  CollectedImport sink;
  import_storage(check_storage(find_tree(twice), {}, Edition::closed_round), sink);
  CHECK_THAT(sink.all(), Contains("has the same names as") && Contains("import them one by one"));
  std::filesystem::remove_all(twice);
}

TEST_CASE("workloads without score or date are skipped with a note") {
  MadeSubmission made;
  made.add_training();
  made.add_vector_database();
  for (const auto& run : made.runs("training/retinanet/run"))
    std::filesystem::remove(run / "summary.json");
  CHECK_THAT(imported(made).all(), Contains("Acme sys1, training retinanet skipped: no score: a "
                                            "run has no train_io_mean_MB_per_second"));
  const auto undated = made.runs("vector_database/milvus/HNSW/run")[0];
  std::filesystem::rename(undated, undated.parent_path() / "first");
  CHECK_THROWS_WITH(imported(made), Contains("no result to import") &&
                                        Contains("the name of its folder (YYYYMMDD_HHMMSS)"));
}

}  // namespace bench::mlperf::storage

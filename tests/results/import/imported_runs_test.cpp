#include "results/import/imported_runs.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "core/text.h"
#include "core/time.h"
#include "results/output/run/export.h"
#include "results/run/run_summary.h"
#include "results/store/journal.h"
#include "results/store/store.h"
#include "tests/results/database.h"
#include "tests/support/catch.h"
#include "tests/support/collected_import.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

struct ImportPlace {
  TemporaryDirectory folder;
  fs::path runs = folder.path() / "runs";
  fs::path database = folder.path() / "results.sqlite";

  ImportSettings settings(const std::string& format) const {
    ImportSettings settings;
    settings.runs = runs;
    settings.format = format;
    settings.file = "sample";
    settings.hosts = {"node07"};
    settings.time_ns = parse_time("2026-11-20T18:30:05Z");
    settings.labels = {{"driver", "550"}};
    return settings;
  }
  std::vector<ImportedRun> import(const std::string& format, const std::string& text,
                                  const std::string& operation = {}) const {
    ImportedRuns into(settings(format));
    import_text(format, text, into, operation);
    return into.keep();
  }
  std::size_t left() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& one : fs::directory_iterator(folder.path())) ++count;
    return count;
  }
};

TEST_CASE("each sample becomes runs that a report and the database read without a warning") {
  const ImportPlace place;
  const std::vector<std::pair<std::string, std::string>> samples = {
      {"nccl-tests", "nccl-tests/2025.txt"},
      {"nccl-tests", "nccl-tests/run.json"},
      {"osu", "osu/bw.txt"},
      {"nvbandwidth", "nvbandwidth/run.txt"},
      {"fio", "fio/mixed.json"},
      {"superbench", "superbench/results-summary.jsonl"},
      {"reframe", "reframe/stream_test.log"},
      {"babelstream", "babelstream/run.txt"},
      {"dcgm-diag", "dcgm-diag/diag.json"},
      {"perftest", "perftest/write_bw.txt"},
      {"transferbench", "transferbench/transfers.txt"},
      {"stress-ng", "stress-ng/failed.txt"},
      {"hpl", "hpl/failed.out"},
      {"hpcg", "hpcg/HPCG-Benchmark_3.1.txt"},
      {"mlpstorage", "mlpstorage/summary.json"},
      {"mlperf-inference", "mlperf-inference/server.txt"},
      {"mlperf-endpoints", "mlperf-endpoints/result_summary.json"},
      {"nccl-inspector", "nccl-inspector/gpu07-pid4321.log"},
      {"csv", "csv/history.csv"}};
  for (const auto& [format, file] : samples) {
    INFO(file);
    const CollectedImport expected = imported(format, file);
    std::size_t series = 0;
    for (const ImportedRun& run : place.import(format, import_sample(file))) {
      const RunSummary report = Store::open(place.database, Access::write).import_run(run.folder);
      CHECK(report.warnings.empty());
      CHECK(report.finished);
      CHECK(report.labels["imported"] == format);
      CHECK(report.labels["driver"] == "550");
      for (const Result& result : report.results) series += result.series.metric.empty() ? 0 : 1;
    }
    CHECK(series == expected.entries.size());
  }
  CHECK(ask(place.database, "SELECT COUNT(*) FROM run") == 22);
}

TEST_CASE("imported values equal those in the run's report") {
  const ImportPlace place;
  const auto runs = place.import("nccl-tests", import_sample("nccl-tests/two_programs.txt"));
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].run.starts_with("20261120T183005Z-nccl-tests-"));
  const RunSummary report = make_run_summary(read_run(runs[0].folder));
  CHECK(report.exit_code == ExitCode::failed);  // broadcast's wrong elements
  REQUIRE(report.jobs.size() == 2);
  for (const JobResult& job : report.jobs)
    CHECK(job.outcome == (job.job.case_name == "broadcast" ? Status::invalid : Status::ok));
  bool found = false;
  for (const Result& result : report.results) {
    const Series& s = result.series;
    if (s.metric != "nccl_tests.latency" || s.params["op"] != "alltoall") continue;
    found = true;
    CHECK(s.host == "gpu[01-02]");
    CHECK(s.ranks == 8);
    CHECK(s.n == 1);
    CHECK(s.outcome == Status::ok);
  }
  CHECK(found);
  CHECK(report.programs.at(1)["libraries"]["nccl"] == "22907");
}

TEST_CASE("an import lists the jobs that failed, with their reasons") {
  const ImportPlace place;
  ImportedRuns into(place.settings("nvbandwidth"));
  import_text("nvbandwidth", import_sample("nvbandwidth/run.json"), into);
  into.keep();
  CHECK_THAT(join(into.notes(), "\n"),
             Contains("job 01.all_to_one_read_sm failed: nvbandwidth: Error: out of memory"));
}

TEST_CASE("rebuild keeps imported runs row by row") {
  const ImportPlace place;
  for (const ImportedRun& run : place.import("csv", import_sample("csv/history.csv")))
    Store::open(place.database, Access::write).import_run(run.folder);
  const auto before = logical_dump(place.database);
  fs::remove(place.database);
  rebuild(place.database, place.runs, place.folder.path() / "journal.jsonl");
  CHECK(logical_dump(place.database) == before);
}

TEST_CASE("the runs of a csv are separate and ordered by time") {
  const ImportPlace place;
  const auto runs = place.import("csv", import_sample("csv/history.csv"));
  REQUIRE(runs.size() == 3);
  for (std::size_t night = 0; night < 3; ++night) {
    CHECK(runs[night].time_ns == parse_time("2026-11-18T02:00:00Z") +
                                     static_cast<std::int64_t>(night) * 86'400'000'000'000);
    const RunRecords records = read_run(runs[night].folder);
    CHECK(records.plan["imported"]["run"] == "night" + std::to_string(night));
    CHECK(runs[night].series == 4);
  }
}

TEST_CASE("export csv and import csv round-trip the values") {
  const ImportPlace place;
  const auto first = place.import("nvbandwidth", import_sample("nvbandwidth/run.txt"));
  const RunSummary report = make_run_summary(read_run(first.at(0).folder));
  const auto again = place.import("csv", to_csv(report));
  REQUIRE(again.size() == 1);
  const RunSummary back = make_run_summary(read_run(again[0].folder));
  std::map<std::string, double> values;
  for (const Result& result : report.results)
    if (!result.series.metric.empty())
      values[result.series.metric + dump(result.series.params) + result.series.host] =
          result.series.median;
  REQUIRE(values.size() == 6);
  for (const Result& result : back.results) {
    const std::string key = result.series.metric + dump(result.series.params) + result.series.host;
    REQUIRE(values.contains(key));
    CHECK(result.series.median == values[key]);
    CHECK(result.series.device == "cuda");
    values.erase(key);
  }
  CHECK(values.empty());
}

TEST_CASE("the same file is not imported twice, except for another host") {
  const ImportPlace place;
  place.import("osu", import_sample("osu/bw.txt"));
  try {
    place.import("osu", import_sample("osu/bw.txt"));
    FAIL("imported twice");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("already imported as 20261120T183005Z-osu-"));
  }
  ImportSettings other = place.settings("osu");
  other.hosts = {"node08"};
  ImportedRuns into(other);
  import_text("osu", import_sample("osu/bw.txt"), into);
  CHECK(into.keep().size() == 1);
}

TEST_CASE("an import that fails leaves nothing behind") {
  const ImportPlace place;
  const std::string half = edited(import_sample("csv/history.csv"), "node02,cuda,", "node02,cuda;");
  CHECK_THROWS_AS(place.import("csv", half), Error);
  CHECK(fs::is_empty(place.runs));
  CHECK(place.left() == 1);  // runs/ itself
}

TEST_CASE("a value that appears twice in a run is refused, not overwritten") {
  const ImportPlace place;
  const std::string csv = import_sample("csv/history.csv");
  const std::string row =
      csv.substr(csv.find("night0"), csv.find('\n', csv.find("night0")) - csv.find("night0") + 1);
  try {
    place.import("csv", csv + row);
    FAIL("a value was lost");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("sample:14") && Contains("appears twice"));
  }
}

TEST_CASE("a file without a host requires --host") {
  const ImportPlace place;
  ImportSettings settings = place.settings("osu");
  settings.hosts.clear();
  ImportedRuns into(settings);
  try {
    import_text("osu", import_sample("osu/bw.txt"), into);
    FAIL("a host was guessed");
  } catch (const Error& error) {
    CHECK_THAT(error.what(), Contains("no host found"));
    CHECK_THAT(error.hint(), Contains("--host"));
  }
}

TEST_CASE("a long csv is streamed with bounded memory") {
  const ImportPlace place;
  ImportedRuns into(place.settings("csv"));
  std::string text = "run,host,metric,params,unit,better,value\n";
  constexpr int kRows = 5000;
  for (int i = 0; i < kRows; ++i)
    text += fmt::format("r{},n{},a.b,\"{{\"\"m\"\":{}}}\",s,lower,{}\n", i % 2, i % 7, i, i + 1);
  import_text("csv", text, into);
  const auto runs = into.keep();
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].series + runs[1].series == kRows);
  const RunRecords records = read_run(runs[0].folder);
  std::size_t series = 0;
  for (const Record& record : records.records)
    series += std::holds_alternative<Samples>(record.body) ? 1 : 0;
  CHECK(series == kRows / 2);
  CHECK(records.warnings.empty());
}

}  // namespace
}  // namespace bench

#include "results/verdicts/published/published_import.h"

#include "core/text.h"
#include "results/import/imported_lines.h"
#include "results/import/imported_runs.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/scaling_output.h"
#include "results/run/run_records.h"
#include "results/store/store.h"
#include "results/verdicts/compare/compare.h"
#include "results/verdicts/compare/selector.h"
#include "results/verdicts/compare/side.h"
#include "results/verdicts/scaling/scaling_report.h"
#include "tests/mlperf/published_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/collected_import.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

using Catch::Matchers::Contains;

struct Imported {
  TemporaryDirectory folder;
  std::vector<ImportedRun> runs;

  explicit Imported(const std::vector<PublishedEntry>& entries) {
    ImportSettings settings;
    settings.runs = folder.path() / "runs";
    settings.format = "mlperf";
    settings.file = "round";
    ImportedRuns sink(settings);
    import_published(entries, sink);
    runs = sink.keep();
  }
};

}  // namespace

TEST_CASE("the i-th log of each result becomes a value of the i-th run") {
  const Imported imported({published("acme", "a", 1, 60.0), published("acme", "b", 4, 20.0)});
  REQUIRE(imported.runs.size() == 10);
  CHECK(imported.runs[0].jobs == 2);
  CHECK(imported.runs[0].series == 6);
  CHECK(imported.runs[0].run.starts_with("20231114T221320Z-mlperf-"));
}

TEST_CASE("scaling and compare read imported results like local ones") {
  PublishedEntry next = published("acme", "c", 1, 40.0);
  next.description.accelerator = "GPU X2";
  PublishedEntry next_big = published("acme", "d", 4, 12.0);
  next_big.description.accelerator = "GPU X2";
  const Imported imported(
      {published("acme", "a", 1, 60.0), published("acme", "b", 4, 20.0), next, next_big});
  std::vector<RunRecords> records;
  for (const ImportedRun& run : imported.runs) records.push_back(read_run(run.folder));
  const ScalingReport scaling = make_scaling_report(records, {.metrics = {"mlperf.time"}});
  REQUIRE(scaling.curves.size() == 2);
  CHECK(scaling.curves[0].law == ScalingLaw::strong_time);
  CHECK(scaling.curves[0].points[1].n == 32);
  CHECK(scaling.curves[0].points[1].values.size() == 10);
  CHECK(scaling.curves[0].points[1].efficiency.value == Approx(0.75));
  CHECK_THAT(to_terminal(to_document(scaling), {false, false, 200}),
             Contains("accelerator GPU X1") && Contains("accelerator GPU X2"));

  Store store = Store::open(imported.folder.path() / "db.sqlite", Access::write);
  for (const ImportedRun& run : imported.runs) CHECK(store.import_run(run.folder).warnings.empty());
  const Histories histories(store);
  const auto side = [&](const std::string& text) {
    return read_side(histories, parse_selector(text, {}), {"mlperf.scored"});
  };
  const Comparison apart = compare(side("hardware:gpu-x"), side("hardware:gpu-x1"));
  CHECK(apart.metrics.size() == 2);  // of X1, at 8 and at 32
  CHECK_THAT(join(apart.only_a, "; "),
             Contains("accelerator GPU X2") && Contains("ranks 8") && Contains("ranks 32"));
  std::vector<Side> mixed = {side("hardware:gpu-x"), side("hardware:gpu-x1")};
  CHECK_THROWS_WITH(ignore_parameters(mixed, {"accelerator"}), Contains("GPU X2"));

  std::vector<Side> sides = {side("hardware:gpu-x1"), side("hardware:gpu-x2")};
  CHECK(compare(sides[0], sides[1]).metrics.empty());
  CHECK_THAT(join(compare(sides[0], sides[1]).warnings, "; "),
             Contains("add --ignore accelerator"));
  ignore_parameters(sides, {"accelerator"});
  const Comparison found = compare(sides[0], sides[1]);
  REQUIRE(found.metrics.size() == 2);  // at 8 and at 32
  for (const ComparedMetric& metric : found.metrics) {
    CHECK(metric.verdict == ChangeVerdict::improved);
    CHECK(metric.a.n == 10);
  }
  CHECK(found.hardware_b == "GPU X2");
}

TEST_CASE("a copy of a log is not imported as a run of its own") {
  PublishedEntry entry = published("acme", "a", 1, 60.0);
  for (std::size_t i = 0; i < entry.runs.size(); ++i) entry.runs[i].digest = 100 + i;
  PublishedEntry copied = entry;
  copied.system = "renamed";
  copied.runs[9].digest = 200;  // a run of its own
  CollectedImport sink;
  import_published(std::vector<PublishedEntry>{entry, copied}, sink);
  CHECK(sink.of("time_to_train").size() == 11);
  CHECK_THAT(sink.all(), Contains("llama31_8b of acme renamed: 9 of its 10 logs skipped"));
}

TEST_CASE("a run that does not count becomes a failed job with its reason") {
  PublishedEntry entry = published("acme", "a", 1, 60.0);
  entry.runs[3].counts = false;
  entry.runs[3].failure = "aborted";
  entry.scaling_factor = 1.5;
  CollectedImport sink;
  import_published(std::vector<PublishedEntry>{entry}, sink);
  CHECK(sink.of("time_to_train").size() == 9);
  CHECK(sink.of("scored_time")[0].samples.values[0] ==
        Approx(1.5 * sink.of("time_to_train")[0].samples.values[0]));
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].reason == "aborted");
  CHECK_THAT(sink.all(), Contains("not verified by MLCommons"));
}

TEST_CASE("system names become host names, and entries without accelerators are skipped") {
  for (const std::string& name :
       std::vector<std::string>{"a b/../c", "", "-x", "\x1b[1m", "[1-8]"}) {
    INFO(name);
    CHECK(is_host_name(host_of_system("acme", name)));
    CHECK(is_host_name(host_of_system("", name)));
  }
  PublishedEntry entry = published("acme", "a", 1, 60.0);
  entry.description = {};
  entry.no_description = "systems/a.json is missing";
  CollectedImport sink;
  CHECK_THROWS_WITH(import_published(std::vector<PublishedEntry>{entry}, sink),
                    Contains("systems/a.json is missing"));
}

}  // namespace bench::mlperf

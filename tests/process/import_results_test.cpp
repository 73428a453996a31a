// benchctl import FORMAT and export, as a user or a script sees them.
#include "core/schema.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

TEST_CASE("an imported log becomes a run: shown, listed, exported, and rebuilt") {
  const BenchctlFolder bench;
  const Answer import =
      bench.run({"import", "nccl-tests", "tests/data/importers/nccl-tests/2025.txt", "--label",
                 "driver=570", "--time", "2026-11-20T18:30:05Z", "--json"});
  INFO(import.err);
  REQUIRE(import.exit.clean());
  const Json said = parse_json(import.out, "import");
  CHECK_NOTHROW(Schema::load("schemas/import.json").check(said, "import"));
  const std::string run = said["imported"][0]["run"];
  CHECK(run.starts_with("20261120T183005Z-nccl-tests-"));
  CHECK(said["imported"][0]["series"] == 14);

  const Json report = parse_json(bench.run({"show", run, "--json"}).out, "show");
  CHECK_NOTHROW(Schema::load("schemas/report.json").check(report, "report"));
  CHECK(report["exit_code"] == 0);
  CHECK_THAT(bench.run({"show", run}).out, Contains("nccl_tests.busbw") || Contains("busbw"));

  const auto file = bench.folder.path() / "bench.prom";
  CHECK(bench.run({"export", "prometheus", run, "-o", file.string()}).exit.clean());
  CHECK_THAT(read_file(file), Contains("# TYPE benchctl_result_value gauge\n"));
  CHECK_THAT(bench.run({"export", "junit", run}).out, Contains("<testsuites "));
  CHECK(bench.run({"rebuild"}).exit.clean());
  CHECK_THAT(bench.run({"runs"}).out, Contains(run));
}

TEST_CASE("a refused import gives the location, exits 2, and stores no run") {
  const BenchctlFolder bench;
  const auto log = bench.folder.path() / "osu.txt";
  std::ofstream(log) << "# OSU MPI Bandwidth Test v7.4\n# Size Bandwidth (MB/s)\n1 fast\n";
  const Answer refused = bench.run({"import", "osu", log.string(), "--host", "node07"});
  CHECK(refused.exit.text() == "exit code 2");
  CHECK_THAT(refused.err, Contains("osu.txt:3: '1 fast' has no number"));
  const Answer nowhere = bench.run({"import", "osu", "tests/data/importers/osu/bw.txt"});
  CHECK(nowhere.exit.text() == "exit code 2");
  CHECK_THAT(nowhere.err, Contains("--host node07"));
  CHECK(all_runs(bench.folder.path() / "runs").empty());
  CHECK_THAT(bench.run({"import", "ncl-tests", "x"}).err, Contains("Did you mean 'nccl-tests'"));
}

// benchctl mlperf score on the command line: exit codes and output files.
#include <string>

#include "core/locations.h"
#include "core/schema.h"
#include "core/whole_file.h"
#include "tests/mlperf/training_log.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using Catch::Matchers::Contains;

namespace bench {
namespace {

std::string one_run(const BenchctlFolder& bench) {
  const auto folder = bench.folder.path() / "acme" / "results" / "sys\x1b" / "llama2_70b_lora";
  write_file(folder / "result_0.txt", mlperf::lora_log().text());
  return (bench.folder.path() / "acme").string();
}

}  // namespace

TEST_CASE("mlperf score reports what prevents a score, with exit code 1") {
  const BenchctlFolder bench;
  const std::string path = one_run(bench);
  const Answer text = bench.run({"mlperf", "score", path});
  CHECK(text.exit.text() == "exit code 1");
  CHECK_THAT(text.out, Contains("1 of 10 required runs"));
  CHECK_THAT(text.out, Contains("0 of 1 entries have a score"));
  CHECK(text.out.find('\x1b') == std::string::npos);
  const Answer json = bench.run({"mlperf", "score", path, "--json", "--batch", "16"});
  const Json report = parse_json(json.out, "stdout");
  CHECK_NOTHROW(Schema::load(schema_path("report_mlperf_score")).check(report, "stdout"));
  CHECK(report["entries"][0]["what_if"].size() == 1);
  CHECK(report["exit_code"] == 1);
}

TEST_CASE("mlperf score writes the CSV table and the HTML page") {
  const BenchctlFolder bench;
  const auto csv = bench.folder.path() / "out" / "table.csv", html = bench.folder.path() / "s.html";
  bench.run({"mlperf", "score", one_run(bench), "--csv", csv.string(), "--html", html.string()});
  CHECK_THAT(read_file(csv), Contains("llama2_70b_lora"));
  CHECK_THAT(read_file(html), Contains("not verified by MLCommons"));
}

TEST_CASE("mlperf score rejects unreadable paths by name") {
  const BenchctlFolder bench;
  const std::string path = one_run(bench);
  CHECK(bench.run({"mlperf", "score", path + "x"}).exit.text() == "exit code 2");
  const Answer rules = bench.run({"mlperf", "score", path, "--ruleset", "5.1"});
  CHECK(rules.exit.text() == "exit code 2");
  CHECK_THAT(rules.err, Contains("5.1.0"));
  const Answer points = bench.run({"mlperf", "score", path, "--rcp-dir", path});
  CHECK(points.exit.text() == "exit code 2");
  CHECK_THAT(points.err, Contains("rcps_BENCHMARK.json"));
  CHECK(bench.run({"mlperf", "score", path, "--batch", "0"}).exit.text() == "exit code 2");
}

}  // namespace bench

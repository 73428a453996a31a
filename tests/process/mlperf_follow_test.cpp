// benchctl mlperf check --follow on the command line, on the log of a stopped run.
#include <fstream>
#include <sstream>

#include "core/locations.h"
#include "core/schema.h"
#include "tests/mlperf/log_lines.h"
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;
using mlperf::log_line;

namespace {

std::string stopped_log(const BenchctlFolder& bench) {
  const std::string path = (bench.folder.path() / "result_0.txt").string();
  std::ofstream(path) << log_line("submission_benchmark", "\"llama31_8b\"") << '\n'
                      << log_line("submission_division", "\"closed\"") << '\n'
                      << log_line("global_batch_size", "64") << '\n'
                      << log_line("init_start") << '\n'
                      << log_line("init_stop") << '\n'
                      << log_line("run_start") << '\n'
                      << log_line("eval_accuracy", "3.2", R"({"samples_count": 200000})") << '\n'
                      << log_line("run_stop", "null", R"({"status": "success"})", 1'700'000'600'000)
                      << '\n';
  return path;
}

}  // namespace

TEST_CASE("mlperf check --follow reports the progress and the final official verdict") {
  const BenchctlFolder bench;
  const auto gauges = (bench.folder.path() / "follow.prom").string();
  const Answer text = bench.run({"mlperf", "check", stopped_log(bench), "--follow", "--ruleset",
                                 "5.1.0", "--prometheus", gauges});
  CHECK(text.exit.text() == "exit code 1");
  CHECK_THAT(text.out,
             Contains("stopped: 10.00 min of training; evaluation 1: 3.2 after 200000 samples, "
                      "target 3.3 reached; below the minimum"));
  CHECK_THAT(text.out, Contains("official verdict by rule set 5.1.0: fail"));
  CHECK_THAT(text.out, !Contains("\033"));  // no terminal
  CHECK_THAT(read_file(gauges), Contains("benchctl_training_running{log=") &&
                                    Contains("benchctl_training_samples{") &&
                                    Contains("} 200000\n"));
}

TEST_CASE("mlperf check --follow --json prints one object per line") {
  const BenchctlFolder bench;
  const Answer json = bench.run(
      {"mlperf", "check", stopped_log(bench), "--follow", "--ruleset", "5.1.0", "--json"});
  const Schema schema = Schema::load(schema_path("report_mlperf_follow"));
  std::istringstream lines(json.out);
  std::vector<Json> reports;
  for (std::string line; std::getline(lines, line);) {
    reports.push_back(parse_json(line, "stdout"));
    CHECK_NOTHROW(schema.check(reports.back(), "stdout"));
  }
  REQUIRE(reports.size() == 2);
  CHECK(reports[0]["phase"] == "stopped");
  CHECK(reports[0]["rcp"]["pace"] == "too fast");
  CHECK(reports[1]["phase"] == "judged");
  CHECK(reports[1]["official"] == "fail");
}

TEST_CASE("mlperf check --follow rejects other formats and a missing log") {
  const BenchctlFolder bench;
  const Answer sarif =
      bench.run({"mlperf", "check", stopped_log(bench), "--follow", "--format", "sarif"});
  CHECK(sarif.exit.text() == "exit code 2");
  CHECK_THAT(sarif.err, Contains("--follow does not support the format 'sarif'"));
  const Answer none = bench.run({"mlperf", "check", "none.txt", "--follow"});
  CHECK(none.exit.text() == "exit code 4");
  CHECK_THAT(none.err, Contains("open none.txt"));
}

// benchctl report regression and calibration as a user sees them.
#include "tests/process/program.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// Kept runs of so many nights; from the twelfth on a product is eight percent slower.
void keep_nights(const BenchctlFolder& bench, int nights) {
  for (int night = 0; night < nights; ++night) {
    RunFixture run("run-" + std::to_string(100 + night));
    run.plan["time_ns"] = start_ns() - (400 - night) * std::int64_t{86'400'000'000'000};
    run.job("a", "gemm", "gemm");
    run.add("a", samples("throughput",
                         (night < 12 ? 1e12 : 0.92e12) * (1.0 + 0.002 * ((night * 7) % 5 - 2)), 20,
                         {{"m", 512}}));
    run.outcome("a").end().write(bench.folder.path() / "runs");
  }
  REQUIRE(bench.run({"rebuild"}).exit.clean());
}

}  // namespace

TEST_CASE("a regression is exit code 1 until a person has acked it, also after a rebuild") {
  const BenchctlFolder bench;
  keep_nights(bench, 20);
  const std::string page = (bench.folder.path() / "page.html").string();
  const Answer found = bench.run({"report", "regression", "--json", "--html", page});
  INFO(found.err);
  CHECK(found.exit.text() == "exit code 1");
  const Json report = parse_json(found.out, "report");
  REQUIRE(report["findings"].size() == 1);
  CHECK(report["findings"][0]["since_run"] == "run-112");
  CHECK_THAT(read_file(page), Contains("run-112"));

  const std::string id = report["findings"][0]["id"];
  const Answer acked = bench.run({"report", "regression", "--ack", id, "--why", "old firmware"});
  CHECK(acked.exit.clean());
  CHECK_THAT(acked.err, Contains(id + ": noted (acked)"));
  CHECK_THAT(read_file(bench.folder.path() / "journal.jsonl"), Contains("old firmware"));
  CHECK(bench.run({"rebuild"}).exit.clean());
  CHECK_THAT(bench.run({"report", "regression", "--all"}).out, Contains("old firmware"));
  CHECK(bench.run({"report", "regression", "--fixed", id}).exit.clean());
  CHECK(bench.run({"report", "regression", "--reopen", id}).exit.text() == "exit code 1");
}

TEST_CASE("invalid reports, decisions and selections are refused with advice") {
  const BenchctlFolder bench;
  keep_nights(bench, 6);
  const Answer few = bench.run({"report", "regression"});
  CHECK(few.exit.text() == "exit code 3");
  CHECK_THAT(few.out, Contains("at least nine runs"));
  CHECK(bench.run({"report", "calibration"}).exit.text() == "exit code 3");
  const Answer unknown = bench.run({"report", "regression", "--ack", "12345678"});
  CHECK(unknown.exit.text() == "exit code 2");
  CHECK_THAT(unknown.err, Contains("no finding '12345678'"));
  CHECK_THAT(bench.run({"report", "regression", "--from", "yesterday"}).err,
             Contains("'yesterday' is not a valid time"));
  CHECK_THAT(bench.run({"report", "regression", "--label", "x"}).err, Contains("KEY=VALUE"));
}

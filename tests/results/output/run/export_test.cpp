#include "results/output/run/export.h"

#include <cmath>

#include "results/run/run_summary.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

RunRecords demo_records() {
  RunFixture run;
  Samples s =
      samples("throughput", 0.1, 20, {{"dtype", "f32"}, {"note", "=cmd|' /C calc'!A0"}}, 0.0);
  s.reason = "say \"hi\",\nplease";
  s.values[1] = std::nan("");
  run.job("a", "gemm", "gemm").add("a", s).outcome("a", Status::ok);
  run.job("b", "null", "null").outcome("b", Status::failed, "crash");
  return run.end().records();
}

std::vector<std::string> lines(const std::string& text, const std::string& end) {
  std::vector<std::string> found;
  std::size_t start = 0;
  for (std::size_t at = text.find(end); at != std::string::npos; at = text.find(end, start)) {
    found.push_back(text.substr(start, at - start));
    start = at + end.size();
  }
  return found;
}

}  // namespace

TEST_CASE("csv begins with the columns that import takes, and has one row per series") {
  const auto rows = lines(to_csv(make_run_summary(demo_records())), "\r\n");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].find("run,time,host,device,metric,params,unit,better,value,median,") == 0);
  CHECK(rows[1].find(
            "20261120T183005Z-demo-0001,2026-11-20T18:30:05Z,node1,host,gemm.throughput,") == 0);
  CHECK(rows[1].find(",FLOP/s,higher,0.1,0.1,20,19,") != std::string::npos);
}

TEST_CASE("csv quotes commas, quotes, line ends and potential spreadsheet formulas") {
  const std::string text = to_csv(make_run_summary(demo_records()));
  CHECK(text.find(R"("{""dtype"":""f32"",""note"":""=cmd|' /C calc'!A0""}")") != std::string::npos);
  CHECK(text.find("\"say \"\"hi\"\",\nplease; 1 of 20 samples are not numbers\"") !=
        std::string::npos);
  RunFixture run("=run");
  run.job("a", "x", "x").add("a", samples("y", 1.0)).outcome("a");
  CHECK(to_csv(make_run_summary(run.records())).find("\r\n\"'=run\",") != std::string::npos);
}

TEST_CASE("a missing value is an empty cell, never 0 or nan") {
  RunFixture run;
  run.job("a", "x", "x").add("a", samples("y", 1.0, 0)).outcome("a");
  const auto rows = lines(to_csv(make_run_summary(run.records())), "\r\n");
  CHECK(rows[1].find(",FLOP/s,higher,,,0,0,,,,,ok,") != std::string::npos);
  CHECK(rows[1].find("nan") == std::string::npos);
}

TEST_CASE("jsonl has one object per result, with raw samples on request") {
  const RunRecords run = demo_records();
  const RunSummary report = make_run_summary(run);
  const auto plain = lines(to_jsonl(report), "\n");
  REQUIRE(plain.size() == 2);
  const Json first = Json::parse(plain[0]);
  CHECK(first["run"] == "20261120T183005Z-demo-0001");
  CHECK(first["time"] == "2026-11-20T18:30:05Z");
  CHECK(first["metric"] == "gemm.throughput");
  CHECK_FALSE(first.contains("values"));
  CHECK(Json::parse(plain[1])["outcome"] == "failed");

  const Json full = Json::parse(lines(to_jsonl(report, &run), "\n")[0]);
  REQUIRE(full["values"].size() == 20);
  CHECK(full["values"][0] == 0.1);
  CHECK(full["values"][1].is_null());
  CHECK(full["flags"].size() == 20);
}

#include "results/verdicts/compare/selector.h"

#include "core/error.h"
#include "results/verdicts/compare/side.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

TEST_CASE("selectors are parsed, and unknown ones are refused with the nearest word") {
  const std::vector<std::string> runs = {"20261101T000000Z-a-1", "20261102T000000Z-b-2"};
  CHECK(parse_selector("latest", runs).selection.runs.at(0) == runs[1]);
  CHECK(parse_selector("latest~1", runs).selection.runs.at(0) == runs[0]);
  CHECK(parse_selector("20261101", runs).selection.runs.at(0) == "20261101");
  const Selector several = parse_selector("label:driver=550+host:n[1-2]+hardware:H100", runs);
  CHECK(several.selection.labels.at("driver") == "550");
  CHECK(several.selection.hosts == std::vector<std::string>{"n1", "n2"});
  CHECK(several.hardware == "h100");
  CHECK(*parse_selector("time:2026-11-01..", runs).selection.from_ns == 1793491200000000000);
  CHECK_FALSE(parse_selector("time:2026-11-01..", runs).selection.to_ns);
  CHECK(parse_selector("file:a+b.json", runs).file == "a+b.json");
  for (const char* wrong : {"", "latest~2", "latest~x", "nonsense", "label:driver", "time:2026",
                            "time:x..y", "hardware:", "host:n[1", "hosts:n1"}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_selector(wrong, runs), Error);
  }
  CHECK_THROWS_WITH(parse_selector("hosts:n1", runs), Contains("Did you mean 'host'"));
}

TEST_CASE("old metric names in an exported file are read as the current ones") {
  const std::string line =
      R"({"metric": "burn.kept", "unit": "ratio", "better": "higher", "params": {}, "median": 1, "run": "r"})";
  const std::string report = R"({"run": "r", "results": [)" + line + "]}";
  CHECK(exported_rows_of(line + "\n", "x").at(0).at("metric") == "burn.sustained_ratio");
  CHECK(exported_rows_of(report, "x").at(0).at("metric") == "burn.sustained_ratio");
}

TEST_CASE("an exported run is a side; other files are refused with the line") {
  const std::string line =
      R"({"metric": "gemm.throughput", "unit": "FLOP/s", "better": "higher", "params": {}, "median": 5, "run": "r"})";
  CHECK(exported_rows_of(line + "\n" + line + "\n", "x").size() == 2);
  CHECK(exported_rows_of(R"({"run": "r", "results": [)" + line + "]}", "x")[0]["run"] == "r");
  for (const std::string& wrong : {std::string("{}"), std::string("[1]"), std::string("nothing"),
                                   std::string(R"({"results": [3]})"), line + "\n{\"torn"}) {
    INFO(wrong);
    CHECK_THROWS_AS(exported_rows_of(wrong, "x"), Error);
  }
  CHECK_THROWS_WITH(exported_rows_of(line + "\n{\"torn", "x"), Contains("line 2"));
}

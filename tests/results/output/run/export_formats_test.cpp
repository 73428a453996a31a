// JUnit and Prometheus: what continuous integration and monitoring read.
#include <cmath>

#include "results/output/document/junit.h"
#include "results/output/run/export.h"
#include "results/run/gauges.h"
#include "results/run/run_summary.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/gauges.h"
#include "tests/support/occurrences.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

/// A job of each kind, gates that pass, fail and have nothing to judge, and hostile text.
RunSummary mixed_report() {
  RunFixture run;
  Samples good = samples("throughput", 2e9, 20, {{"note", "<b>&\"'\n"}}, 0.0);
  good.limit = Limit{4e9, LimitKind::proven, "a test"};
  Samples bad = samples("error", 1.0);
  bad.outcome = Status::invalid;
  run.job("a", "gemm", "gemm").add("a", good).outcome("a");
  run.job("b", "copy", "copy").add("b", bad).outcome("b", Status::invalid, "wrong ]]> sum");
  run.job("c", "x", "x").outcome("c", Status::failed, "signal 9 \x1b[31m");
  run.job("d", "x", "x").outcome("d", Status::skipped, "no device");
  run.plan["gates"] = {{"gemm",
                        {{{"metric", "gemm.throughput"}, {"min", 1e9}},
                         {{"metric", "gemm.throughput"}, {"min", 3e9}},
                         {{"metric", "gemm.missing"}, {"min", 1.0}}}}};
  return make_run_summary(run.end().records());
}

TEST_CASE("junit: one test case per job and gate, and nothing that did not pass looks passed") {
  const std::string xml = to_junit(mixed_report());
  CHECK(occurrences(xml, "<testcase ") == 7);
  CHECK(occurrences(xml, "<failure ") == 2);  // the wrong result, the gate of 3e9
  CHECK(occurrences(xml, "<error ") == 2);    // the crash, the gate without a result
  CHECK(occurrences(xml, "<skipped ") == 1);
  CHECK_THAT(xml, Contains("tests=\"7\" failures=\"2\" errors=\"2\" skipped=\"1\""));
  CHECK_THAT(xml, Contains("timestamp=\"2026-11-20T18:30:05\""));
}

TEST_CASE("junit: text is escaped and valid XML") {
  const std::string xml = to_junit(mixed_report());
  CHECK_THAT(xml, Contains("wrong ]]&gt; sum"));
  CHECK_THAT(xml, Contains("signal 9 \xef\xbf\xbd[31m"));
  CHECK(xml.find('\x1b') == std::string::npos);
  CHECK(xml_text("a\xff<\"'&\t\n\x01\xef\xbf\xbf") ==
        "a\xef\xbf\xbd&lt;&quot;&apos;&amp;&#9;&#10;\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("prometheus: values in base units, only of valid results") {
  const auto all = gauges(to_prometheus(mixed_report()));
  REQUIRE(all.at("benchctl_result_value").size() == 1);
  const auto& [labels, value] = *all.at("benchctl_result_value").begin();
  CHECK(value == 2e9);
  CHECK_THAT(labels, Contains("metric=\"gemm.throughput\"") && Contains("unit=\"FLOP/s\"") &&
                         Contains("host=\"node1\""));
  CHECK(all.at("benchctl_result_limit_ratio").begin()->second == 0.5);
  CHECK(all.at("benchctl_result_ok").size() == 2);
  CHECK(all.at("benchctl_run_exit_code").begin()->second == 1);
  CHECK(all.at("benchctl_run_jobs").at("{suite=\"demo\",outcome=\"failed\"}") == 1);
  CHECK(all.at("benchctl_run_start_timestamp_seconds").begin()->second == 1795199405.0);
}

TEST_CASE("prometheus: a gate without a result neither passed nor failed") {
  const auto all = gauges(to_prometheus(mixed_report()));
  double passed = 0, failed = 0;
  for (const auto& [labels, value] : all.at("benchctl_gate_passed")) passed += value;
  for (const auto& [labels, value] : all.at("benchctl_gate_failed")) failed += value;
  CHECK(all.at("benchctl_gate_passed").size() == 3);
  CHECK(passed == 1);
  CHECK(failed == 1);
}

TEST_CASE("prometheus: quotes, backslashes and line breaks in labels are escaped") {
  CHECK(prometheus_label("a\"b\\c\nd\xff") == "a\\\"b\\\\c\\nd\xef\xbf\xbd");
  const std::string text = to_prometheus(mixed_report());
  CHECK_THAT(text, Contains(R"(params="{\"note\":\"<b>&\\\"'\\n\"}")"));
}

TEST_CASE("prometheus: a missing value is omitted, never NaN or 0") {
  RunFixture run;
  run.job("a", "x", "x").add("a", samples("y", 1.0, 1)).outcome("a");
  const std::string text = to_prometheus(make_run_summary(run.records()));
  CHECK(text.find("benchctl_result_low") == std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
}

}  // namespace
}  // namespace bench

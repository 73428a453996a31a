#include "results/output/run/overview.h"

#include "results/output/document/terminal.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

std::string text_of(const RunReport& report) {
  Document document;
  document.add(headline_of(report));
  add_overview(document, report);
  return to_terminal(document, {false, true, 120});
}

/// Every sample stolen from.
Samples disturbed(const std::string& metric, double value) {
  Samples s = samples(metric, value, 20);
  for (unsigned& flags : s.flags) flags = kStolen;
  return s;
}

}  // namespace

TEST_CASE("a run without gates is measured, not passed") {
  RunFixture run;
  run.job("a", "gemm", "gemm").add("a", samples("throughput", 1.0, 20)).outcome("a");
  CHECK_THAT(text_of(make_run_report(run.end().records())),
             Contains("MEASURED: 1 series in 1 job; no gates to pass"));
}

TEST_CASE("disturbed series are counted first, with the next step") {
  RunFixture run;
  run.job("a", "gemm", "gemm").add("a", disturbed("throughput", 1.0));
  run.add("a", samples("latency", 1.0, 20)).outcome("a");
  const RunReport report = make_run_report(run.end().records());
  const std::string text = text_of(report);
  CHECK_THAT(text, Contains("NOT JUDGED: 1 of 2 series without an undisturbed sample") &&
                       Contains("next step: stop other work"));
  CHECK(headline_of(report).verdict == "NOT JUDGED");
}

TEST_CASE("a failed gate is the answer, with its value") {
  RunFixture run;
  run.job("a", "gemm", "gemm").add("a", samples("throughput", 2.0, 20)).outcome("a");
  run.plan["gates"] = {
      {"gemm",
       {{{"metric", "throughput"}, {"min", 3.0}}, {{"metric", "throughput"}, {"min", 1.0}}}}};
  const std::string text = text_of(make_run_report(run.end().records()));
  CHECK_THAT(text, Contains("FAIL: 1 of 2 gates failed") &&
                       Contains("gate gemm: throughput >= 3.000 FLOP/s: 2.000 FLOP/s"));
}

TEST_CASE("a gate that could not be decided is not counted as passed") {
  const auto answer = [](const Json& gates) {
    RunFixture run;
    Samples wide = samples("throughput", 2.0, 20);
    for (std::size_t i = 0; i < wide.values.size(); ++i) wide.values[i] = 1.0 + 0.1 * double(i);
    run.job("a", "gemm", "gemm").add("a", wide).outcome("a");
    run.plan["gates"] = {{"gemm", gates}};
    const RunReport report = make_run_report(run.end().records());
    INFO(text_of(report));
    REQUIRE(report.exit_code == ExitCode::ok);
    return text_of(report) + run_summary_text(report);
  };
  const Json sure = {{"metric", "throughput"}, {"min", 0.5}};
  const Json open = {{"metric", "throughput"}, {"min", 2.0}};
  CHECK_THAT(answer(Json::array({sure})),
             Contains("PASS: all 1 gates passed") && Contains("all passed"));
  const std::string mixed = answer(Json::array({sure, open}));
  CHECK_THAT(mixed, Contains("PASS: 1 of 2 gates passed, 1 undecided") &&
                        Contains("no gate failed, 1 undecided") && !Contains("all passed"));
  CHECK_THAT(answer(Json::array({open})),
             Contains("NOT DECIDED: none of 1 gates") && !Contains("PASS"));
}

TEST_CASE("the overview has the range of each metric of a case, and no single facts") {
  RunFixture run;
  run.job("a", "gemm", "gemm").add("a", samples("throughput", 2e9, 20, {{"dtype", "f32"}}));
  run.add("a", samples("throughput", 8e9, 20, {{"dtype", "bf16"}}));
  run.add("a", disturbed("latency", 1.0)).add("a", samples("cores", 4.0, 1)).outcome("a");
  const std::string text = text_of(make_run_report(run.end().records()));
  CHECK_THAT(text, Contains("throughput       2  2.000 GFLOP/s  8.000 GFLOP/s  2 of 2"));
  CHECK_THAT(text, Contains("0 of 1") && !Contains("cores"));
}

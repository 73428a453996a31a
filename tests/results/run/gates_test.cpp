#include "results/run/gates.h"

#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

Series gemm(Samples s, const Json& params = Json::object()) {
  PlannedJob job;
  job.id = job.case_name = job.probe = "gemm";
  s.params = params;
  return summarise(s, job);
}

std::vector<GateResult> evaluate(const Json& gates, const std::vector<Series>& all) {
  std::vector<const Series*> series;
  for (const Series& one : all) series.push_back(&one);
  return evaluate_gates(gates, series);
}

GateResult judge_one(const Json& gate, const Series& series) {
  const auto results = evaluate({{"gemm", {gate}}}, {series});
  REQUIRE(results.size() == 1);
  return results[0];
}

// 100 +- 1 %, 95 % interval about [99.5, 100.5].
const Series kHundred = gemm(samples("throughput", 100.0));

}  // namespace

TEST_CASE("a gate is judged on the whole interval of the median") {
  CHECK(judge_one({{"metric", "throughput"}, {"min", 95.0}}, kHundred).verdict == Verdict::pass);
  CHECK(judge_one({{"metric", "throughput"}, {"min", 105.0}}, kHundred).verdict == Verdict::fail);
  const GateResult straddling = judge_one({{"metric", "throughput"}, {"min", 100.0}}, kHundred);
  CHECK(straddling.verdict == Verdict::inconclusive);
  CHECK(straddling.reason.find("interval spans") != std::string::npos);
  CHECK(straddling.measured);
}

TEST_CASE("max gates bound from above, and the worst of several bounds counts") {
  CHECK(judge_one({{"metric", "throughput"}, {"max", 105.0}}, kHundred).verdict == Verdict::pass);
  CHECK(judge_one({{"metric", "throughput"}, {"max", 95.0}}, kHundred).verdict == Verdict::fail);
  CHECK(judge_one({{"metric", "throughput"}, {"min", 95.0}, {"max", 99.0}}, kHundred).verdict ==
        Verdict::fail);
  CHECK(judge_one({{"metric", "throughput"}, {"min", 95.0}, {"max", 100.0}}, kHundred).verdict ==
        Verdict::inconclusive);
}

TEST_CASE("min_of_limit compares with the limit, also if lower is better") {
  Samples s = samples("throughput", 100.0);
  const Json gate = {{"metric", "gemm.throughput"}, {"min_of_limit", 0.9}};
  CHECK(judge_one(gate, kHundred).verdict == Verdict::inconclusive);
  CHECK(judge_one(gate, kHundred).reason == "no limit known");
  s.limit = Limit{105.0, LimitKind::measured, ""};
  CHECK(judge_one(gate, gemm(s)).verdict == Verdict::pass);
  s.limit = Limit{150.0, LimitKind::measured, ""};
  CHECK(judge_one(gate, gemm(s)).verdict == Verdict::fail);
  s.better = Better::lower;
  s.limit = Limit{95.0, LimitKind::measured, ""};
  CHECK(judge_one(gate, gemm(s)).verdict == Verdict::pass);
  s.limit = Limit{50.0, LimitKind::measured, ""};
  CHECK(judge_one(gate, gemm(s)).verdict == Verdict::fail);
}

TEST_CASE("a single value is its own interval") {
  CHECK(judge_one({{"metric", "throughput"}, {"min", 100.0}}, gemm(samples("throughput", 100.0, 1)))
            .verdict == Verdict::pass);
  CHECK(judge_one({{"metric", "throughput"}, {"min", 100.5}}, gemm(samples("throughput", 100.0, 1)))
            .verdict == Verdict::fail);
}

TEST_CASE("a gate on an unmeasured metric is inconclusive and lists what there is") {
  const auto results = evaluate({{"gemm", {{{"metric", "througput"}, {"min", 1.0}}}}}, {kHundred});
  REQUIRE(results.size() == 1);
  CHECK(results[0].verdict == Verdict::inconclusive);
  CHECK_FALSE(results[0].measured);
  CHECK(results[0].reason == "the case has no metric 'througput'. Did you mean 'throughput'?");
  const auto other = evaluate({{"nothing", {{{"metric", "x"}, {"min", 1.0}}}}}, {kHundred});
  CHECK(other[0].reason == "no results in case 'nothing'");
}

TEST_CASE("`where` selects the series that contain all of its parameters") {
  const std::vector<Series> series = {
      gemm(samples("throughput", 1.0), {{"dtype", "f32"}, {"m", 1}}),
      gemm(samples("throughput", 1.0), {{"dtype", "f32"}, {"m", 2}}),
      gemm(samples("throughput", 1.0), {{"dtype", "bf16"}, {"m", 1}})};
  const auto count = [&](const Json& where) {
    const auto results =
        evaluate({{"gemm", {{{"metric", "throughput"}, {"where", where}, {"min", 0.1}}}}}, series);
    return results[0].series ? results.size() : 0;
  };
  CHECK(count(Json::object()) == 3);
  CHECK(count({{"dtype", "f32"}}) == 2);
  CHECK(count({{"dtype", "f32"}, {"m", 2}}) == 1);
  CHECK(count({{"dtype", "f64"}}) == 0);
}

TEST_CASE("no gate passes on invalid, non-numeric or disturbed values, or without a bound") {
  const Json gate = {{"metric", "throughput"}, {"min", 1.0}};
  Samples s = samples("throughput", 100.0);
  s.outcome = Status::invalid;
  CHECK(judge_one(gate, gemm(s)).verdict == Verdict::inconclusive);
  CHECK(judge_one(gate, gemm(samples("throughput", 100.0, 0))).verdict == Verdict::inconclusive);
  CHECK(judge_one({{"metric", "throughput"}}, kHundred).verdict == Verdict::inconclusive);
  s = samples("throughput", 100.0);
  s.flags.assign(s.flags.size(), kStolen);
  CHECK(judge_one(gate, gemm(s)).verdict == Verdict::inconclusive);
}

#include "results/run/series.h"

#include <cmath>

#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

PlannedJob job() {
  PlannedJob planned;
  planned.id = "00.gemm.0";
  planned.case_name = "gemm";
  planned.probe = "gemm";
  return planned;
}

std::vector<Series> series_of(const RunFixture& fixture) {
  const RunRecords run = fixture.records();
  std::vector<Series> all;
  const std::vector<JobResult> jobs = job_results(run);
  const SeriesOfJobs of_jobs(run, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto of_job = of_jobs.of(i);
    all.insert(all.end(), of_job.begin(), of_job.end());
  }
  return all;
}

}  // namespace

TEST_CASE("statistics are those of the clean samples, the unfiltered median is of all") {
  Samples s = samples("throughput", 100.0, 0);
  for (int i = 1; i <= 9; ++i) s.values.push_back(i);
  s.flags = {0, 0, 0, 0, 0, 0, 0, kStolen, kPowerCapped};
  const Series series = summarise(s, job());
  CHECK(series.metric == "gemm.throughput");
  CHECK(series.n == 9);
  CHECK(series.clean == 8);  // a power cap is noted, never filtered
  CHECK(series.median == Approx(4.5));
  CHECK(series.unfiltered_median == Approx(5.0));
  CHECK(series.min == 1.0);
  CHECK(series.max == 9.0);
  CHECK(series.mean == Approx(37.0 / 8));
  CHECK(series.flags.at("stolen") == 1);
  CHECK(series.flags.at("power_capped") == 1);
}

TEST_CASE("the median's interval uses order statistics and needs six samples") {
  const Series nine = summarise(samples("t", 100.0, 9, Json::object(), 0.04), job());
  CHECK(nine.low == Approx(97.0));  // ranks 2 and 8 of 96, 97, .. 104
  CHECK(nine.high == Approx(103.0));
  const Series five = summarise(samples("t", 100.0, 5), job());
  CHECK(std::isnan(five.low));
  CHECK(std::isnan(five.high));
  CHECK(five.median == Approx(100.0));
}

TEST_CASE("p95 needs 20 samples and p99 needs 100") {
  CHECK(std::isnan(summarise(samples("t", 1.0, 19), job()).p95));
  const Series twenty = summarise(samples("t", 1.0, 20), job());
  CHECK(std::isfinite(twenty.p95));
  CHECK(std::isnan(twenty.p99));
  CHECK(std::isfinite(summarise(samples("t", 1.0, 100), job()).p99));
}

TEST_CASE("without clean samples the statistics cover all, and clean is 0") {
  Samples s = samples("t", 100.0, 20);
  s.flags.assign(20, kStolen);
  const Series series = summarise(s, job());
  CHECK(series.clean == 0);
  CHECK(series.median == Approx(100.0));
}

TEST_CASE("a sample that is not a number is never clean and makes the series invalid") {
  Samples s = samples("t", 100.0, 20);
  s.values[3] = std::nan("");
  s.values[4] = HUGE_VAL;
  const Series series = summarise(s, job());
  CHECK(series.n == 20);
  CHECK(series.clean == 18);
  CHECK(series.outcome == Status::invalid);
  CHECK(series.reason == "2 of 20 samples are not numbers");
  CHECK(std::isfinite(series.median));
}

TEST_CASE("a series without samples has no values at all") {
  const Series series = summarise(samples("t", 1.0, 0), job());
  CHECK(series.n == 0);
  CHECK(std::isnan(series.median));
  CHECK(std::isnan(series.min));
  CHECK(std::isnan(clean_share(series)));
}

TEST_CASE("of_limit is value / limit, or limit / value if lower is better, or unknown") {
  const Limit limit{200.0, LimitKind::proven, ""};
  CHECK(of_limit(100.0, Better::higher, limit) == 0.5);
  CHECK(of_limit(400.0, Better::lower, limit) == 0.5);
  CHECK(std::isnan(of_limit(100.0, Better::higher, {})));
  CHECK(std::isnan(of_limit(100.0, Better::none, limit)));
  CHECK(std::isnan(of_limit(100.0, Better::higher, Limit{0.0, LimitKind::measured, ""})));
}

TEST_CASE("the later of two series with one identity counts") {
  RunFixture run;
  run.job("a", "gemm", "gemm")
      .add("a", samples("throughput", 1.0))
      .add("a", samples("throughput", 2.0));
  run.add("a", samples("throughput", 3.0), 1);  // another rank is another series
  const auto series = series_of(run.outcome("a"));
  REQUIRE(series.size() == 2);
  CHECK(series[0].median == Approx(2.0));
  CHECK(series[1].rank == 1);
}

TEST_CASE("varying job parameters distinguish the series of a case") {
  RunFixture run;
  run.job("a", "mem", "mem", {{"op", "read"}, {"pages", "huge"}, {"sizes", {1, 2}}});
  run.job("b", "mem", "mem", {{"op", "write"}, {"pages", "huge"}, {"sizes", {1, 3}}});
  run.add("a", samples("bandwidth", 1.0)).add("b", samples("bandwidth", 2.0, 20, {{"op", "own"}}));
  const auto series = series_of(run);
  REQUIRE(series.size() == 2);
  CHECK(series[0].params == Json{{"op", "read"}});
  CHECK(series[1].params == Json{{"op", "own"}});  // what the probe says itself wins
}

TEST_CASE("all series of an invalid job are invalid") {
  RunFixture run;
  run.job("a", "a", "gemm").add("a", samples("throughput", 1.0));
  run.outcome("a", Status::invalid, "ranks disagree");
  CHECK(series_of(run)[0].outcome == Status::invalid);
  CHECK(series_of(run)[0].reason == "invalid job: ranks disagree");
}

TEST_CASE("one invalid series does not invalidate the others of its job") {
  RunFixture run;
  Samples wrong = samples("throughput", 2.0, 20, {{"m", 2}});
  wrong.outcome = Status::invalid;
  wrong.reason = "wrong result";
  run.job("a", "a", "gemm").add("a", samples("throughput", 1.0, 20, {{"m", 1}})).add("a", wrong);
  run.outcome("a", Status::invalid, "wrong result");
  const auto series = series_of(run);
  CHECK(series[0].outcome == Status::ok);
  CHECK(series[1].outcome == Status::invalid);
}

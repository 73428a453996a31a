// Which results make a curve, and what is said of it.
#include "results/verdicts/scaling/scaling_report.h"

#include <cmath>

#include "core/schema.h"
#include "core/text.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/scaling_output.h"
#include "tests/results/run_fixture.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

constexpr TextStyle kPlainScaling{false, false, 200};

/// A ladder: one rank a host on n hosts, `repeats` jobs each; the value of n by `of`.
template <class Value>
RunRecords ladder(const std::string& probe, const std::string& metric, Unit unit, Better better,
                  const std::vector<int>& numbers, Value of, int repeats = 1) {
  RunFixture run;
  for (const int n : numbers)
    for (int r = 0; r < repeats; ++r) {
      const std::string job = probe + std::to_string(n) + "." + std::to_string(r);
      run.job(job, "ladder", probe, {{"size", 1}}, n);
      Json hosts = Json::array();
      for (int h = 0; h < n; ++h) hosts.push_back("node" + std::to_string(h + 1));
      run.plan["jobs"].back()["hosts"] = hosts;
      Samples s = samples(metric, of(n) * (1.0 + 0.001 * r));
      s.unit = unit;
      s.better = better;
      s.over = "max";
      run.add(job, s).outcome(job);
    }
  return run.end().records();
}

ScalingReport report_of(const RunRecords& run, const ScalingSettings& settings = {}) {
  return make_scaling_report(std::vector<RunRecords>{run}, settings);
}

double usl(int n) { return 1e9 * n / (1.0 + 0.02 * (n - 1) + 3e-4 * n * (n - 1)); }

void keeps_to_schema(const ScalingReport& report) {
  CHECK_NOTHROW(Schema::load("schemas/report_scaling.json")
                    .check(Json::parse(dump(to_json(report))), "report"));
}

}  // namespace

TEST_CASE("a peak is named only where the fit excludes that there is none") {
  ScalingFit fit = *usl_fit(std::vector<RateAt>{
      {1, 100}, {2, 196}, {4, 380}, {8, 710}, {16, 1240}, {32, 1900}, {64, 2300}});
  const auto lines = [&] {
    ScalingCurve curve;
    curve.over = "accelerators";
    curve.fits = {fit};
    return join(fit_lines(curve), "\n");
  };
  CHECK_THAT(lines(), Contains("Peak at 72 accelerators"));
  fit.beta.low = -1e-5;
  CHECK_THAT(lines(), Contains("Peak not established") && Contains("72 accelerators"));
}

TEST_CASE("busbw of each rank is treated as a total rate") {
  const auto report = report_of(ladder("collective", "busbw", Unit::byte_per_second, Better::higher,
                                       {2, 4, 8}, [](int n) { return n == 8 ? 9e9 : 10e9; }));
  REQUIRE(report.curves.size() == 1);
  const ScalingCurve& curve = report.curves[0];
  CHECK(curve.law == ScalingLaw::own_rate);
  CHECK(curve.base == 2);
  CHECK(curve.points[1].efficiency.value == Approx(1.0));
  CHECK(curve.points[2].efficiency.value == Approx(0.9));
  CHECK(curve.points[2].efficiency.low < 0.9);
  CHECK(curve.points[2].speed_up == Approx(3.6));
  CHECK(curve.fits.empty());
  CHECK_THAT(curve.fit_words, Contains("too few"));
  keeps_to_schema(report);
}

TEST_CASE(
    "a rate of all is fitted by USL from seven numbers, with a prediction at twice the largest") {
  const auto report = report_of(ladder("concurrency", "copy_rate", Unit::byte_per_second,
                                       Better::higher, {1, 2, 4, 8, 16, 32, 64}, usl, 3));
  REQUIRE(report.curves.size() == 1);
  const ScalingCurve& curve = report.curves[0];
  CHECK(curve.law == ScalingLaw::total_rate);
  REQUIRE(curve.fits.size() == 2);
  CHECK(curve.fits[0].model == "usl");
  CHECK(curve.fits[0].beta.value == Approx(3e-4).epsilon(0.05));
  CHECK(curve.points[6].values.size() == 3);
  REQUIRE(curve.predictions.size() == 1);
  CHECK(curve.predictions[0].n == 128);
  CHECK(curve.predictions[0].rate == Approx(usl(128)).epsilon(0.02));
  CHECK(curve.predictions[0].low < curve.predictions[0].rate);
  CHECK_THAT(to_terminal(to_document(report), kPlainScaling),
             Contains("USL: contention alpha 0.0"));
  CHECK_THAT(to_terminal(to_document(report), kPlainScaling), Contains("Prediction at 128 ranks:"));
  keeps_to_schema(report);
}

TEST_CASE("predictions beyond twice the largest number are refused") {
  const auto run = ladder("concurrency", "copy_rate", Unit::byte_per_second, Better::higher,
                          {1, 2, 4, 8, 16, 32}, usl);
  CHECK(report_of(run, {.predict_at = {48, 64}}).curves[0].predictions.size() == 2);
  CHECK_THROWS_WITH(report_of(run, {.predict_at = {65}}), Contains("cannot predict 65 ranks"));
}

TEST_CASE("the time of a collective is weak scaling, as a tree or a ring") {
  const auto report = report_of(ladder(
      "collective", "latency", Unit::second, Better::lower, {1, 2, 4, 8, 16},
      [](int n) { return 10e-6 + 1e-6 * n; }, 2));
  REQUIRE(report.curves.size() == 1);
  const ScalingCurve& curve = report.curves[0];
  CHECK(curve.law == ScalingLaw::weak_time);
  CHECK(curve.points[4].efficiency.value == Approx(11.0 / 26.0).epsilon(1e-3));
  REQUIRE(curve.times);
  CHECK(curve.times->per_worker == Approx(1e-6).epsilon(0.05));
  REQUIRE(curve.predictions.size() == 1);
  CHECK(curve.predictions[0].low < curve.predictions[0].high);
  keeps_to_schema(report);
}

TEST_CASE("hosts with a CPU quota are named, as they look like bad scaling") {
  RunFixture run;
  for (const int n : {1, 2}) {
    const std::string job = "gemm" + std::to_string(n);
    run.job(job, "gemm", "gemm", {{"threads", n}});
    run.add(job, Facts{"host", {{"cpu_quota_cores", 1.5}, {"allowed_cpus", 2}}});
    run.add(job, samples("throughput", 1e9 * n, 20, {{"threads", n}})).outcome(job);
  }
  const ScalingReport report = report_of(run.end().records(), {.over = "threads"});
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0] ==
        "node1 had a CPU quota of 1.5 cores for 2 CPUs: efficiency there may be that of the quota");
}

TEST_CASE("threads are workers within a rank, and another law may be chosen") {
  RunFixture run;
  run.job("a", "gemm", "gemm");
  for (const int threads : {1, 2, 4})
    run.add("a", samples("throughput", 1e9 * threads / (1.0 + 0.1 * (threads - 1)), 20,
                         {{"threads", threads}, {"dtype", "f32"}}));
  const RunRecords records = run.outcome("a").end().records();
  const auto report = report_of(records, {.over = "threads"});
  REQUIRE(report.curves.size() == 1);
  CHECK(report.curves[0].params == Json{{"dtype", "f32"}});
  CHECK(report.curves[0].host == "node1");
  CHECK_THAT(to_terminal(to_document(report), kPlainScaling), Contains("of node1"));
  CHECK(report.curves[0].points[2].efficiency.value == Approx(1.0 / 1.3));
  CHECK(report.curves[0].points[2].karp_flatt == Approx(0.1));
  const auto own = report_of(records, {.over = "threads", .law = ScalingLaw::own_rate});
  CHECK(own.curves[0].points[2].efficiency.value == Approx(4.0 / 1.3));
}

TEST_CASE("one number of ranks gives no curve: exit code 3 and a hint") {
  const auto report = report_of(
      ladder("concurrency", "copy_rate", Unit::byte_per_second, Better::higher, {4}, usl, 3));
  CHECK(report.curves.empty());
  CHECK(report.exit_code == ExitCode::not_measured);
  CHECK_THAT(to_terminal(to_document(report), kPlainScaling), Contains("ladder"));
  keeps_to_schema(report);
}

TEST_CASE("training scaling separates the sample penalty from throughput loss") {
  TrainingFixture fixture;
  for (const int ranks : {1, 2, 4})
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U})
      fixture.add({.seed = seed,
                   .seconds = 100.0 / ranks,
                   .rate = 1e5 * ranks * (1.0 + 0.001 * static_cast<double>(seed)),
                   .ranks = ranks,
                   .batch = 32 * ranks});
  const auto report = report_of(fixture.records());
  REQUIRE(report.curves.size() == 1);
  const ScalingCurve& curve = report.curves[0];
  CHECK(curve.metric == "training.items_per_second");
  CHECK(curve.kind == "weak");
  CHECK(curve.params["batch_per_rank"] == 32);
  CHECK(curve.points[2].efficiency.value == Approx(1.0).epsilon(1e-3));
  CHECK(std::isfinite(curve.points[2].efficiency.low));
  CHECK(std::isfinite(curve.points[2].samples_penalty));
  CHECK(std::isfinite(curve.points[2].time_efficiency));
  keeps_to_schema(report);
}

TEST_CASE("the scaling page draws points, laws and the ideal, and escapes names") {
  auto run = ladder("concurrency", "copy_rate", Unit::byte_per_second, Better::higher,
                    {1, 2, 4, 8, 16, 32}, usl, 2);
  run.run = "<script>alert(1)</script>";
  const std::string html = to_page(to_document(report_of(run)));
  CHECK_THAT(html, Contains(">USL</text>"));
  CHECK_THAT(html, Contains(">ideal</text>"));
  CHECK(html.find("<script>alert") == std::string::npos);
}

TEST_CASE("an unknown scaling law is refused with the nearest name") {
  CHECK_THROWS_WITH(scaling_law_from("strnog"), Contains("Did you mean 'strong'?"));
  CHECK(to_string(scaling_law_from("weak")) == "weak");
}

TEST_CASE("only curves that differ only in their case name it") {
  const auto seconds = [](int n) { return 8.0 / n; };
  RunRecords run = ladder("null", "time", Unit::second, Better::lower, {1, 2}, seconds);
  ScalingReport report = report_of(run);
  REQUIRE(report.curves.size() == 1);
  CHECK(to_json(report)["series"][0]["case"].is_null());
  const RunRecords more = ladder("null", "time", Unit::second, Better::lower, {4, 8}, seconds);
  for (PlannedJob job : more.jobs) {
    job.case_name = "other";
    run.jobs.push_back(job);
  }
  run.records.insert(run.records.end(), more.records.begin(), more.records.end());
  report = report_of(run);
  REQUIRE(report.curves.size() == 2);
  CHECK_THAT(to_terminal(to_document(report), kPlainScaling),
             Contains("in ladder") && Contains("in other"));
  keeps_to_schema(report);
}

#include "results/compare/compare.h"

#include <cmath>
#include <random>

#include "core/error.h"
#include "core/schema.h"
#include "results/compare/compare_output.h"
#include "results/compare/efficiency_text.h"
#include "results/compare/estimate.h"
#include "results/compare/exported_rows.h"
#include "results/compare/ladder.h"
#include "results/compare/selector.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Contains;

namespace {

const std::vector<double> kBefore = {101.2, 99.8, 100.5, 100.1, 99.6, 100.9};
const std::vector<double> kAfter = {97.9, 98.6, 97.2, 98.8, 99.7, 98.1};

MetricKey rate_key(const std::string& metric = "gemm.throughput") {
  return {.metric = metric,
          .params = R"({"m":512})",
          .device = "host",
          .over = "rank",
          .ranks = 1,
          .unit = Unit::flop_per_second,
          .better = Better::higher};
}

Point value_point(double value, double half_share = kNoValue, double clock = kNoValue) {
  return {.run = 1,
          .value = value,
          .low = value * (1.0 - half_share),
          .high = value * (1.0 + half_share),
          .clock_hz = clock};
}

Side side_of(const std::vector<double>& values, const MetricKey& key = rate_key(),
             const std::string& host = "n1") {
  Side side{.name = "side"};
  for (const double value : values) side.metrics[key][{host, "host"}].push_back(value_point(value));
  side.runs = values.size();
  return side;
}

ComparedMetric only_metric(const Side& a, const Side& b, const CompareOptions& options = {}) {
  const Comparison found = compare(a, b, options);
  REQUIRE(found.metrics.size() == 1);
  return found.metrics[0];
}

}  // namespace

TEST_CASE("one interval has three verdicts by three thresholds") {
  const Side a = side_of(kBefore), b = side_of(kAfter);
  const ComparedMetric one = only_metric(a, b, {.threshold = 0.01});
  CHECK(one.verdict == ChangeVerdict::regressed);
  CHECK(one.basis == Basis::runs);
  CHECK(one.ratio == Approx(0.9804908388198127).epsilon(1e-12));
  CHECK(one.low == Approx(0.9702675916749252).epsilon(1e-12));
  CHECK(one.high == Approx(0.9899799599198399).epsilon(1e-12));
  CHECK(one.p == Approx(4.0 / 924.0).epsilon(1e-12));
  CHECK_FALSE(one.n_needed);
  CHECK(only_metric(a, b, {.threshold = 0.02}).verdict == ChangeVerdict::changed);
  CHECK_THAT(only_metric(a, b, {.threshold = 0.02}).why, Contains("2 %"));
  CHECK(only_metric(a, b, {.threshold = 0.05}).verdict == ChangeVerdict::equivalent);
}

TEST_CASE("a time that falls is an improvement, and a metric without direction changes") {
  MetricKey time = rate_key("null.time");
  time.better = Better::lower;
  CHECK(only_metric(side_of(kBefore, time), side_of(kAfter, time)).verdict ==
        ChangeVerdict::improved);
  time.better = Better::none;
  CHECK(only_metric(side_of(kBefore, time), side_of(kAfter, time)).verdict ==
        ChangeVerdict::changed);
}

TEST_CASE("exact metrics are equal or changed, without a test") {
  MetricKey cores = rate_key("topology.cores");
  cores.better = Better::none;
  const ComparedMetric same = only_metric(side_of({64, 64}, cores), side_of({64}, cores));
  CHECK(same.verdict == ChangeVerdict::equivalent);
  CHECK(std::isnan(same.p));
  const ComparedMetric other = only_metric(side_of({64, 64}, cores), side_of({63.999}, cores));
  CHECK(other.verdict == ChangeVerdict::changed);
  CHECK(other.basis == Basis::exact);
}

TEST_CASE("too few runs are inconclusive, with how many would do") {
  const ComparedMetric found = only_metric(side_of({100, 101, 99}), side_of({90, 91, 89}));
  CHECK(found.verdict == ChangeVerdict::inconclusive);
  CHECK(found.basis == Basis::none);
  CHECK_THAT(found.why, Contains("too few runs"));
  REQUIRE(found.n_needed);
  CHECK(*found.n_needed >= 4);
}

TEST_CASE("runs needed follow the noise, and never less than a family can decide by") {
  CHECK(runs_needed(2.0, 1.0, false) == 66);
  CHECK(runs_needed(1.0, 1.0, false) == 17);
  CHECK(runs_needed(1.0 / 1.5, 1.0, false) == 8);
  CHECK(runs_needed(0.5, 1.0, false) == 5);
  CHECK(runs_needed(1.0 / 3.0, 1.0, false) == 4);
  CHECK(fewest_values(false) == 4);
  CHECK(fewest_values(false, 20) == 6);
  CHECK(fewest_values(false, 200) == 8);
  CHECK(fewest_values(false, 1000) == 9);
  CHECK(fewest_values(false, 20'000) == 12);
  CHECK(fewest_values(true) == 6);
  CHECK(runs_needed(1.0, 0.0, false) == 1'000'000);
}

TEST_CASE("the same hosts on both sides are paired, and their own levels do not blur the change") {
  Side a{.name = "a"}, b{.name = "b"};
  for (int host = 0; host < 8; ++host) {
    const UnitOfHost unit{"n" + std::to_string(host), "host"};
    const double level = 100.0 + 10.0 * host;
    a.metrics[rate_key()][unit] = {value_point(level)};
    b.metrics[rate_key()][unit] = {value_point(level * (0.97 + 0.0005 * host))};
  }
  const ComparedMetric found = only_metric(a, b);
  CHECK(found.basis == Basis::pairs);
  CHECK(found.pairs == 8);
  CHECK(found.verdict == ChangeVerdict::regressed);
  CHECK(found.p == Approx(2.0 / 256.0));
}

TEST_CASE("runs of a few hosts are compared within each host") {
  ScaledUnits a, b;
  for (int host = 0; host < 2; ++host)
    for (int run = 0; run < 4; ++run) {
      const UnitOfHost unit{"n" + std::to_string(host), "host"};
      a[unit].push_back({10.0 * host + 0.01 * run, 0.0});
      b[unit].push_back({10.0 * host + 0.01 * run + 1.0, 0.0});
    }
  const Estimate found = estimate(a, b);
  CHECK(found.basis == Basis::runs);
  CHECK(found.shift.estimate == Approx(1.0));
  CHECK(found.shift.low > 0.9);
  CHECK(found.p == Approx(2.0 / 4900.0));  // every difference above: one of (8 over 4)^2, twice
}

TEST_CASE("one run a side is judged by its samples, and the report says so") {
  Side a{.name = "a"}, b{.name = "b"};
  a.metrics[rate_key()][{"n1", "host"}] = {value_point(100.0, 0.001)};
  b.metrics[rate_key()][{"n1", "host"}] = {value_point(95.0, 0.001)};
  const Comparison found = compare(a, b);
  CHECK(found.metrics[0].basis == Basis::samples);
  CHECK(found.metrics[0].verdict == ChangeVerdict::changed);  // these two runs, no more
  REQUIRE(found.warnings.size() == 1);
  CHECK_THAT(found.warnings[0], Contains("no other runs tell how runs differ"));
  const auto with_noise = [&](double deviation, double degrees) {
    return compare(a, b, {.noise = {{rate_key(), {deviation, degrees}}}}).metrics[0];
  };
  CHECK(with_noise(0.003, 7).verdict == ChangeVerdict::regressed);
  CHECK(with_noise(0.003, 7).basis == Basis::history);
  CHECK(with_noise(0.05, 7).verdict == ChangeVerdict::inconclusive);  // runs differ as much anyway
  CHECK(*with_noise(0.05, 7).n_needed > 100);
  CHECK(with_noise(0.003, 3).basis == Basis::samples);          // three say too little
  b.metrics[rate_key()][{"n1", "host"}] = {value_point(95.0)};  // without an interval
  CHECK(compare(a, b).metrics[0].verdict == ChangeVerdict::inconclusive);
  CHECK(compare(a, b).exit_code() == ExitCode::not_measured);
}

TEST_CASE("a clock that fell is told apart from software that got slower") {
  const auto with_clock = [](double rate, double clock) {
    Side side{.name = "side"};
    for (int i = 0; i < 6; ++i)
      side.metrics[rate_key()][{"n1", "host"}].push_back(
          value_point(rate * (1.0 + 0.0002 * i), kNoValue, clock));
    return side;
  };
  const Side a = with_clock(100.0, 2e9);
  CHECK(only_metric(a, with_clock(95.0, 1.9e9)).cause == "clock");
  CHECK(only_metric(a, with_clock(95.0, 2e9)).cause == "not the clock");
  CHECK(only_metric(a, with_clock(90.0, 1.9e9)).cause == "clock and more");
  CHECK(only_metric(a, with_clock(50.0, 1.9e9)).cause == "not the clock");  // a fourteenth of it
  CHECK(only_metric(a, with_clock(90.0, 2.1e9)).cause == "not the clock");  // it even rose
  CHECK(only_metric(a, with_clock(100.0, 2e9)).cause.empty());
  CHECK(only_metric(a, side_of(kAfter)).cause.empty());  // nobody knows its clock
}

TEST_CASE("among many comparisons a single small p is no discovery") {
  Side a{.name = "a"}, b{.name = "b"};
  for (int i = 0; i < 40; ++i) {
    const MetricKey key = rate_key("x.m" + std::to_string(i));
    for (const double value : kBefore) {
      a.metrics[key][{"n1", "host"}].push_back(value_point(value));
      b.metrics[key][{"n1", "host"}].push_back(value_point(value));
    }
  }
  auto& changed = b.metrics[rate_key("x.m0")][{"n1", "host"}];
  for (std::size_t i = 0; i < changed.size(); ++i) changed[i] = value_point(kAfter[i]);
  const Comparison found = compare(a, b);
  CHECK(found.tested == 40);
  CHECK(found.count(ChangeVerdict::regressed) == 0);
  const auto open = std::ranges::find(
      found.metrics, "x.m0", [](const ComparedMetric& metric) { return metric.key.metric; });
  CHECK(open->verdict == ChangeVerdict::inconclusive);
  CHECK_THAT(open->why, Contains("one of 40 comparisons"));
}

TEST_CASE("a metric that says the same as another is left out unless it is asked for") {
  const MetricKey twin = rate_key("collective.algbw");
  CHECK(compare(side_of(kBefore, twin), side_of(kAfter, twin)).derived == 1);
  CHECK(compare(side_of(kBefore, twin), side_of(kAfter, twin)).metrics.empty());
  CHECK(only_metric(side_of(kBefore, twin), side_of(kAfter, twin), {.derived = true}).verdict ==
        ChangeVerdict::regressed);
}

TEST_CASE("what only one side measured is listed, never compared") {
  Side a = side_of(kBefore), b = side_of(kAfter);
  MetricKey other = rate_key();
  other.params = R"({"m":1024})";
  b.metrics[other] = b.metrics[rate_key()];
  b.metrics.erase(rate_key());
  const Comparison found = compare(a, b);
  CHECK(found.metrics.empty());
  CHECK(found.only_a == std::vector<std::string>{R"(gemm.throughput {"m":512})"});
  CHECK(found.only_b == std::vector<std::string>{R"(gemm.throughput {"m":1024})"});
  CHECK(found.exit_code() == ExitCode::not_measured);
}

TEST_CASE("software, settings and hardware that differ are told, parts only of the same host") {
  Side a = side_of(kBefore), b = side_of(kAfter);
  a.configurations[0] = {{"gpu.0.name", "NVIDIA H100"},
                         {"library.nccl", "2.18"},
                         {"product_serial", "A"},
                         {"setting.packed", "true"}};
  b.configurations[0] = {{"gpu.0.name", "NVIDIA H200"},
                         {"library.nccl", "2.21"},
                         {"product_serial", "B"},
                         {"setting.packed", "false"}};
  const Comparison same_host = compare(a, b);
  CHECK(same_host.facts.size() == 3);
  CHECK(same_host.hardware_a == "NVIDIA H100");
  REQUIRE(same_host.metrics[0].asked_otherwise.size() == 1);
  CHECK(same_host.metrics[0].asked_otherwise[0].fact == "setting.packed");
  b.metrics[rate_key()] = {{{"n2", "host"}, b.metrics[rate_key()].begin()->second}};
  for (const ChangedFact& fact : compare(a, b).facts) CHECK(fact.change.fact != "product_serial");
  CHECK_THAT(to_text(compare(a, b), {}), Contains("NVIDIA H100 in A, NVIDIA H200 in B"));
}

TEST_CASE("work a watt and a dollar turn times over") {
  MetricKey time = rate_key("x.time");
  time.better = Better::lower;
  Side a = side_of({2, 2, 2, 2}, time), b = side_of({1, 1, 1, 1}, time);
  for (auto& point : a.metrics[time].begin()->second) point.power_w = 100;
  for (auto& point : b.metrics[time].begin()->second) point.power_w = 400;
  const ComparedMetric found = only_metric(a, b, {.price_a = 1.0, .price_b = 4.0});
  CHECK(found.per_watt == Approx(0.5));
  CHECK(found.per_dollar == Approx(0.5));
}

TEST_CASE("a workload's gain follows the resource that gained as much") {
  const std::vector<ResourceRatio> resources = {{Resource::compute, 3, 1.0},
                                                {Resource::memory, 3, 1.43}};
  CHECK(follows(1.4, resources) == "memory");
  CHECK(follows(1.02, resources) == "compute");
  CHECK(follows(1.2, resources).empty());  // half way
  CHECK(follows(1.2, {}).empty());
}

TEST_CASE("equal distributions are called different in at most 2.5 % of comparisons") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0.0, 0.02);
  int wrong = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> a(8), b(8);
    for (double& x : a) x = 100.0 * std::exp(noise(random));
    for (double& x : b) x = 100.0 * std::exp(noise(random));
    const ChangeVerdict verdict =
        compare(side_of(a), side_of(b), {.threshold = 0.02}).metrics[0].verdict;
    wrong += verdict == ChangeVerdict::improved || verdict == ChangeVerdict::regressed;
  }
  CHECK(wrong <= 0.025 * kTrials);
}

TEST_CASE("the JSON of a comparison fits its schema") {
  const Side a = side_of(kBefore), b = side_of(kAfter);
  const Json json = to_json(compare(a, b));
  CHECK_NOTHROW(Schema::load("schemas/compare.json").check(json, "compare"));
  CHECK(json["metrics"][0]["verdict"] == "regressed");
  CHECK(json["metrics"][0]["n_needed"].is_null());
  CHECK_NOTHROW(
      Schema::load("schemas/compare.json").check(to_json(make_ladder({a, b, a}, {})), "compare"));
}

TEST_CASE("a ladder has each step against the one before and the first") {
  MetricKey rate = rate_key("training.items_per_second");
  MetricKey two = rate;
  two.ranks = 2;
  const auto step = [](double value, const MetricKey& key) {
    return side_of({value, value * 1.001, value * 0.999, value * 1.002}, key);
  };
  const Ladder ladder =
      make_ladder({step(100, rate), step(200, rate), step(380, two)}, {.price_a = 3.6});
  REQUIRE(ladder.metrics.size() == 1);
  const auto& steps = ladder.metrics[0].steps;
  REQUIRE(steps.size() == 3);
  CHECK(std::isnan(steps[0].individual.ratio));
  CHECK(steps[1].individual.ratio == Approx(2.0));
  CHECK(steps[2].individual.ratio == Approx(1.9));
  CHECK(steps[2].cumulative.ratio == Approx(3.8));
  CHECK(steps[2].individual.verdict == ChangeVerdict::improved);
  CHECK(steps[2].ranks == 2);
  CHECK(steps[2].relative_cost == Approx(2.0 / 3.8));
  CHECK(ladder.exit_code() == ExitCode::ok);
  CHECK(make_ladder({step(100, rate), step(50, rate)}, {}).exit_code() == ExitCode::failed);
}

TEST_CASE("selectors are read, and what selects nothing is named with the nearest word") {
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

TEST_CASE("an exported run is a side; what is no export is refused with its place") {
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

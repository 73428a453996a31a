#include "results/run/series_telemetry.h"

#include <cmath>

#include "core/schema.h"
#include "results/output/run/export.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/output/run/telemetry_lines.h"
#include "tests/results/run_fixture.h"
#include "tests/support/catch.h"
#include "tests/support/rendered.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

Json gauge(double min, double mean, double max) {
  return {{"n", 20}, {"min", min}, {"mean", mean}, {"max", max}};
}

Json counter(double total, double rate) { return {{"n", 20}, {"total", total}, {"mean", rate}}; }

Json cpu_source() {
  return {{"all_s", counter(20.0, 2.0)},
          {"busy_s", counter(19.5, 1.95)},
          {"steal_s", counter(0.4, 0.04)},
          {"iowait_s", counter(0.0, 0.0)}};
}

/// A GPU at its power limit: 98 % of the time by the driver's own count.
Json gpu_sources(const std::string& name) {
  Json power = gauge(590.0, 612.0, 698.0);
  power["energy_j"] = 18300.0;
  return {{name + ".fast",
           {{"sm_clock_hz", gauge(1.38e9, 1.44e9, 1.755e9)},
            {"power_w", power},
            {"event_reasons", {{"n", 20}, {"shares", {{"sw_power_cap", 0.9}, {"idle", 0.01}}}}}}},
          {name + ".slow",
           {{"temperature_c", gauge(60, 68, 71)},
            {"memory_temperature_c", gauge(70, 78, 83)},
            {"energy_j", counter(18360.0, 612.0)},
            {"throttled_power_s", counter(29.4, 0.98)},
            {"throttled_hardware_thermal_s", counter(0.0, 0.0)}}}};
}

Json phase(const std::string& name, const Json& params, double seconds, const Json& sources) {
  return {{"phase", name}, {"params", params}, {"seconds", seconds}, {"sources", sources}};
}

Facts telemetry(const Json& phases) {
  return Facts{"telemetry", {{"cpu_s", 0.01}, {"cpu_share", 0.001}, {"phases", phases}}};
}

const Json kBf16 = {{"dtype", "bf16"}, {"m", 8192}};

Samples gpu_product() {
  Samples s = samples("throughput", 720e12, 40, kBf16);
  s.limit = Limit{1070.5e12, LimitKind::datasheet, "132 x 4096 x 1.98 GHz", 1.98e9};
  s.quality.clock_hz = 1.44e9;
  return s;
}

/// A job of one rank that drove the second of two GPUs.
RunFixture gpu_run(const Json& sources) {
  RunFixture run;
  run.job("a", "products", "gemm");
  run.plan["jobs"].back()["device"] = "cuda";
  run.add("", Facts{"device", {{"id", "GPU-two"}, {"name", "NVIDIA H100 80GB HBM3"}}});
  run.add("", Facts{"gpus",
                    {{"driver", "550.54"},
                     {"gpus",
                      {{{"index", 0}, {"uuid", "GPU-one"}, {"name", "NVIDIA H100 80GB HBM3"}},
                       {{"index", 1},
                        {"uuid", "GPU-two"},
                        {"name", "NVIDIA H100 80GB HBM3"},
                        {"power_limit_enforced_w", 700.0}}}}}});
  run.add("a", gpu_product());
  run.add("a", telemetry({phase("job", Json::object(), 40.0, sources),
                          phase("warm_up", kBf16, 5.0, Json::object()),
                          phase("measure", kBf16, 30.0, sources)}));
  return run.outcome("a").end();
}

SeriesTelemetry only(const RunFixture& run) {
  const RunReport report = make_run_report(run.records());
  REQUIRE(report.results.at(0).telemetry);
  return *report.results[0].telemetry;
}

Json both_gpus() {
  Json sources = gpu_sources("gpu0");
  sources.update(gpu_sources("gpu1"));
  sources["gpu0.fast"]["power_w"]["max"] = 70.0;  // it had nothing to do
  sources["host.cpu"] = cpu_source();
  return sources;
}

}  // namespace

TEST_CASE("a series has the telemetry of its own GPU during its measurement") {
  const SeriesTelemetry seen = only(gpu_run(both_gpus()));
  CHECK(seen.phase == "measure");
  CHECK(seen.seconds == 30.0);
  CHECK(seen.cpu_busy_share == Approx(0.975));
  CHECK(seen.cpu_steal_share == Approx(0.02));
  REQUIRE(seen.gpus.size() == 1);
  const GpuTelemetry& gpu = seen.gpus[0];
  CHECK(gpu.gpu == 1);
  CHECK(gpu.uuid == "GPU-two");
  CHECK(gpu.sm_clock_hz.min == 1.38e9);
  CHECK(gpu.power_w.max == 698.0);
  CHECK(gpu.power_limit_w == 700.0);
  CHECK(gpu.temperature_c == 71.0);
  CHECK(gpu.energy_j == 18360.0);                         // the counter: 30 s are long enough
  CHECK(gpu.reasons.at("sw_power_cap") == Approx(0.98));  // counted, not sampled
  CHECK(gpu.reasons.at("idle") == Approx(0.01));          // which is only sampled
  CHECK_FALSE(gpu.reasons.contains("hw_thermal"));
}

TEST_CASE("GPU error counts cover the whole job, and are yellow") {
  Json sources = both_gpus();
  sources["gpu1.health"] = {{"pcie_replays", counter(41.0, 1.0)},
                            {"ecc_uncorrected", counter(0.0, 0.0)},
                            {"ecc_corrected", {{"total", nullptr}}}};
  RunFixture run = gpu_run(sources);
  CHECK(only(run).gpus.at(0).errors == std::map<std::string, double>{{"pcie_replays", 41.0}});
  const std::string text = to_text(make_run_report(run.records()), {true, true, 400});
  CHECK_THAT(text, Contains("41 PCIe replays in this job"));
  CHECK_THAT(text, Contains("\033[33mtelemetry"));
  CHECK(only(gpu_run(both_gpus())).gpus.at(0).errors.empty());
}

TEST_CASE("a short phase takes its energy from power, not from a counter read once a second") {
  RunFixture run = gpu_run(both_gpus());
  const auto at = run.lines.rfind("\"seconds\":30.0");
  REQUIRE(at != std::string::npos);
  run.lines.replace(at, 14, "\"seconds\":0.5");
  CHECK(only(run).gpus.at(0).energy_j == 18300.0);
}

TEST_CASE("several ranks show only the GPUs they used") {
  RunFixture run = gpu_run(both_gpus());
  run.plan["jobs"].back()["ranks"] = 4;
  run.plan["jobs"].back()["hosts"] = {"node1", "node2"};
  const SeriesTelemetry seen = only(run);
  REQUIRE(seen.gpus.size() == 2);
  CHECK(seen.gpus[0].gpu == 0);
  CHECK(seen.gpus[1].gpu == 1);
}

TEST_CASE("a value without its own phase shows the whole job, labelled as such") {
  RunFixture run;
  run.job("a", "burn", "burn").add("a", samples("sustained_ratio", 0.99, 1, {{"of", "gemm_rate"}}));
  run.add("a", telemetry({phase("job", Json::object(), 4.0, {{"host.cpu", cpu_source()}}),
                          phase("measure", {{"round", 1}}, 2.0, Json::object())}));
  const SeriesTelemetry seen = only(run.outcome("a").end());
  CHECK(seen.phase == "job");
  CHECK(seen.cpu_busy_share == Approx(0.975));
  CHECK(seen.gpus.empty());
}

TEST_CASE("a job without telemetry, or one whose telemetry failed, has none") {
  RunFixture run;
  run.job("a", "gemm", "gemm").add("a", samples("throughput", 1e9)).outcome("a");
  run.job("b", "gemm", "gemm").add("b", samples("throughput", 1e9));
  run.add("b", Facts{"telemetry", {{"problem", "a counter source did not return"}}});
  const RunReport report = make_run_report(run.outcome("b").end().records());
  for (const Result& result : report.results) CHECK_FALSE(result.telemetry);
  CHECK(to_json(report)["results"][0]["telemetry"].is_null());
  CHECK(to_text(report, {false, true, 120}).find("telemetry") == std::string::npos);
}

TEST_CASE("malformed telemetry is harmless") {
  for (const Json& odd :
       {Json{{"phases", 7}}, Json{{"phases", {1, nullptr, "x", {{"phase", 3}}}}},
        Json{
            {"phases", {{{"phase", "job"}, {"sources", {{"gpu0.fast", "hot"}, {"host.cpu", 1}}}}}}},
        Json{{"phases",
              {{{"phase", "job"},
                {"sources",
                 {{"gpu0.fast",
                   {{"event_reasons", {{"shares", {{"sw_power_cap", "often"}}}}}}}}}}}}}}) {
    RunFixture run;
    run.job("a", "gemm", "gemm").add("a", samples("throughput", 1e9));
    run.plan["jobs"].back()["device"] = "cuda";
    run.add("a", Facts{"telemetry", odd}).outcome("a");
    const RunReport report = make_run_report(run.end().records());
    CHECK_NOTHROW(Schema::load("schemas/report.json").check(to_json(report), "report"));
    CHECK_FALSE(to_text(report, {}).empty());
  }
}

TEST_CASE("telemetry JSON conforms to the schema, with null for missing readings") {
  Json sources = both_gpus();
  sources["gpu1.fast"]["power_w"] = {
      {"n", 0}, {"min", nullptr}, {"mean", nullptr}, {"max", nullptr}};
  const Json json = to_json(make_run_report(gpu_run(sources).records()));
  CHECK_NOTHROW(Schema::load("schemas/report.json").check(json, "report"));
  const Json& seen = json["results"][0]["telemetry"];
  CHECK(seen["gpus"][0]["power_w"]["mean"].is_null());
  CHECK(seen["gpus"][0]["sm_clock_hz"]["mean"] == 1.44e9);
  CHECK(seen["cpu"]["power_w"].is_null());
  CHECK(json["results"][0]["of_limit_at_clock"].get<double>() == Approx(0.9248).epsilon(0.001));
}

TEST_CASE("a line below the case shows throttle reasons and the share at the actual clock") {
  const std::string text =
      to_text(make_run_report(gpu_run(both_gpus()).records()), {false, true, 400});
  CHECK_THAT(text, Contains("telemetry: CPU 98 % busy, 2 % steal; GPU 1 SM clock 1.380 GHz to "
                            "1.755 GHz, mean 1.440 GHz, 612 W mean, 698 W max (limit 700 W), "
                            "71 C, 18.36 kJ, power cap 98 % of the time\n"));
  CHECK_THAT(text, Contains("of limit  at clock"));
  CHECK_THAT(text, Contains("67.3 %    92.5 %"));
  CHECK_THAT(text, Contains("at clock: share of the limit at the actual clock, 1.440 GHz"));
}

TEST_CASE("few series have a line each, labelled only by what distinguishes them") {
  RunFixture run;
  run.job("a", "g", "gemm");
  Json phases = Json::array();
  for (const char* dtype : {"f32", "f64"}) {
    const Json params = {{"dtype", dtype}, {"implementation", std::string("of ") + dtype}};
    run.add("a", samples("throughput", 1e9, 20, params));
    run.add("a", samples("per_cycle", 32, 1, params));  // of the same stretch of time
    phases.push_back(phase("measure", params, 1.0, {{"host.cpu", cpu_source()}}));
  }
  run.add("a", telemetry(phases)).outcome("a").end();
  const std::string text = to_text(make_run_report(run.records()), {false, true, 120});
  CHECK_THAT(text, Contains("  telemetry of dtype f32: CPU 98 % busy, 2 % steal\n"
                            "  telemetry of dtype f64: CPU 98 % busy, 2 % steal\n"));
}

TEST_CASE("many series share one line of extremes, with problems in yellow") {
  RunFixture run;
  run.job("a", "memory", "memory_bandwidth");
  run.plan["jobs"].back()["device"] = "cuda";
  Json phases = Json::array();
  for (int i = 0; i < 9; ++i) {
    const Json params = {{"kernel", "read"}, {"size_bytes", 64 << i}};
    run.add("a", samples("bandwidth", 1e12, 20, params));
    Json sources = gpu_sources("gpu0");
    sources["gpu0.fast"]["power_w"]["max"] = 700.0 + i;
    if (i == 4) sources["gpu0.slow"]["throttled_hardware_thermal_s"]["mean"] = 0.004;
    phases.push_back(phase("measure", params, 1.0, sources));
  }
  run.add("a", telemetry(phases)).outcome("a").end();
  const RunReport report = make_run_report(run.records());
  Rows rows;
  for (const Result& result : report.results) rows.push_back(&result);
  const Lines lines = telemetry_lines(rows);
  REQUIRE(lines.lines.size() == 1);
  const TextSpan& line = lines.lines[0].spans.at(0);
  const std::string& text = line.text;
  CHECK_THAT(text, Contains("telemetry of 9 series: GPU 0 SM clock"));
  CHECK_THAT(text, Contains("708 W max"));
  CHECK_THAT(text, Contains("hardware thermal slowdown less than 1 % of the time"));
  CHECK(line.tone == Tone::unsure);
}

TEST_CASE("a csv row ends with device telemetry; unknown cells are empty") {
  const std::string text = to_csv(make_run_report(gpu_run(both_gpus()).records()));
  CHECK_THAT(text, Contains(",0.975,1440000000,612,71,0.98\r\n"));
  RunFixture plain;
  plain.job("a", "gemm", "gemm").add("a", samples("throughput", 1e9)).outcome("a");
  const std::string none = to_csv(make_run_report(plain.records()));
  CHECK_THAT(none, Contains(",rank,,,,,,\r\n"));
}

TEST_CASE("a share at the actual clock needs both clocks") {
  const Limit with{100.0, LimitKind::datasheet, "", 2e9};
  CHECK(at_clock_held(0.6, with, 1.5e9) == Approx(0.8));
  CHECK(std::isnan(at_clock_held(0.6, with, {})));
  CHECK(std::isnan(at_clock_held(0.6, with, 0.0)));
  CHECK(std::isnan(at_clock_held(0.6, Limit{100.0, LimitKind::datasheet, ""}, 1.5e9)));
  CHECK(std::isnan(at_clock_held(0.6, {}, 1.5e9)));
  CHECK(std::isnan(at_clock_held(kNoValue, with, 1.5e9)));
}

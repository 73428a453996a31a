#include "results/verdicts/published/published_scaling.h"

#include <cmath>
#include <filesystem>

#include "core/schema.h"
#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/document/terminal.h"
#include "results/output/mlperf/published_scaling_output.h"
#include "tests/mlperf/published_fixture.h"
#include "tests/support/catch.h"

namespace bench::mlperf {
namespace {

using Catch::Matchers::Contains;

constexpr TextStyle kWideScaling{false, false, 240};

void keeps_to_scaling_schema(const PublishedScaling& scaling) {
  const Json json = Json::parse(dump(to_json(scaling)));
  CHECK_NOTHROW(Schema::load("schemas/report_mlperf_scaling.json").check(json, "scaling"));
  CHECK(json["notice"] == "not verified by MLCommons Association");
}

/// Entries from expected_scores.json of the shared data, without the logs.
std::vector<PublishedEntry> expected_entries(const std::string& file) {
  std::vector<PublishedEntry> entries;
  const Json expected = read_json(file);
  for (const Json& from : expected["entries"]) {
    PublishedEntry entry = published(from["submitter"], from["system"], 1, 1.0);
    entry.benchmark = from["benchmark"];
    entry.description =
        system_description({{"number_of_nodes", from["number_of_nodes"]},
                            {"accelerators_per_node", from["accelerators_per_node"]},
                            {"accelerator_model_name", from["accelerator"]}});
    entry.runs.clear();
    for (const Json& run : from["runs"])
      entry.runs.push_back({run["file"], run["compliance"] == "pass" && run["minutes"].is_number(),
                            "", number_field(run, "minutes")});
    entry.olympic_minutes = from["olympic_mean_minutes"];
    entry.score_minutes = from["score_minutes"];
    entry.samples = from["rcp"]["submission_mean"];
    entries.push_back(entry);
  }
  return entries;
}

const PublishedSeries* series_of(const PublishedScaling& scaling, const std::string& benchmark,
                                 const std::string& accelerator) {
  for (const PublishedSeries& series : scaling.series)
    if (series.benchmark == benchmark && series.accelerator.find(accelerator) != std::string::npos)
      return &series;
  return nullptr;
}

}  // namespace

TEST_CASE("efficiencies refer to the base that was asked for") {
  PublishedScalingSettings settings;
  settings.base = 64.0;
  const auto scaling =
      published_scaling({published("acme", "one", 1, 100.0), published("acme", "four", 4, 40.0),
                         published("acme", "eight", 8, 25.0), published("acme", "many", 16, 20.0),
                         published("brick", "one", 1, 90.0), published("brick", "two", 2, 50.0)},
                        settings);
  REQUIRE(scaling.series.size() == 1);
  const PublishedSeries& series = scaling.series.front();
  CHECK(series.curve.base == 64.0);
  REQUIRE(series.points.size() == 2);
  CHECK(series.points[1].efficiency.value == Approx(25.0 / (2 * 20.0)));
  REQUIRE(scaling.warnings.size() == 3);
  CHECK_THAT(scaling.warnings[0],
             Contains("acme") && Contains("8 accelerators are fewer than the base, 64"));
  CHECK_THAT(scaling.warnings[1], Contains("32 accelerators are fewer"));
  CHECK_THAT(scaling.warnings[2], Contains("brick") && Contains("no result with 64 accelerators"));
}

TEST_CASE("time efficiency is throughput efficiency over the convergence penalty") {
  const auto scaling = published_scaling(
      {published("acme", "big", 4, 20.0, 1500.0), published("acme", "small", 1, 60.0, 1000.0)});
  REQUIRE(scaling.series.size() == 1);
  CHECK(scaling.exit_code == ExitCode::ok);
  const PublishedPoint& small = scaling.series[0].points[0];
  const PublishedPoint& big = scaling.series[0].points[1];
  CHECK(small.accelerators == 8);
  CHECK(big.accelerators == 32);
  CHECK(big.efficiency.value == Approx(0.75));
  CHECK(big.convergence_penalty == Approx(1.5));
  CHECK(big.throughput_efficiency == Approx(1.125));
  CHECK(big.efficiency.value == Approx(big.throughput_efficiency / big.convergence_penalty));
  CHECK(big.efficiency.low < 0.75);
  CHECK(big.efficiency.high > 0.75);
  CHECK(std::isnan(small.efficiency.low));
  CHECK(big.accelerator_hours == Approx(32.0 * 20.0 / 60.0));
  CHECK_THAT(to_terminal(to_document(scaling), kWideScaling),
             Contains("llama31_8b of acme on GPU X1") && Contains("75.0 %") &&
                 Contains("x 1.500") && Contains("not verified by MLCommons") &&
                 Contains("derived, not an official MLPerf metric"));
  CHECK_THAT(to_page(to_document(scaling)),
             Contains("<svg") && Contains("not verified by MLCommons"));
  CHECK_THAT(to_markdown(to_document(scaling)), Contains("llama31\\_8b of acme on GPU X1") &&
                                                    Contains("75.0 %") &&
                                                    Contains("not verified by MLCommons"));
  keeps_to_scaling_schema(scaling);
}

TEST_CASE(
    "the fastest of several systems with the same accelerator count is used, and the others are "
    "listed") {
  const auto scaling =
      published_scaling({published("acme", "slow", 1, 70.0), published("acme", "fast", 1, 60.0),
                         published("acme", "big", 2, 31.0)});
  REQUIRE(scaling.series.size() == 1);
  const auto& point = scaling.series[0].points[0];
  CHECK(scaling.entries[point.entry].system == "fast");
  REQUIRE(point.slower.size() == 1);
  CHECK_THAT(to_terminal(to_document(scaling), kWideScaling), Contains("also at 8: slow"));
  CHECK(to_json(scaling)["series"][0]["points"][0]["left_out_systems"][0] == "slow");
}

TEST_CASE("a series does not mix submitters, accelerators or divisions") {
  PublishedEntry other = published("acme", "b", 2, 31.0);
  other.description.accelerator = "GPU X2";
  PublishedEntry open = published("acme", "c", 4, 31.0);
  open.division = "open";
  const auto scaling = published_scaling(
      {published("acme", "a", 1, 60.0), other, open, published("corp", "d", 8, 31.0)});
  CHECK(scaling.series.empty());
  CHECK(scaling.single == 4);
  CHECK(scaling.exit_code == ExitCode::not_measured);
  CHECK_THAT(to_terminal(to_document(scaling), kWideScaling), Contains("4 at one"));
  keeps_to_scaling_schema(scaling);
}

TEST_CASE("results without a score or accelerator count are listed and skipped") {
  PublishedEntry unscored = published("acme", "a", 1, 60.0);
  unscored.olympic_minutes = kNoValue;
  unscored.no_score = "two runs failed";
  PublishedEntry unknown = published("acme", "b\x1b[1m", 2, 31.0);
  unknown.description = {};
  const auto scaling = published_scaling({unscored, unknown});
  REQUIRE(scaling.warnings.size() == 2);
  CHECK_THAT(scaling.warnings[0], Contains("two runs failed"));
  CHECK_THAT(scaling.warnings[1], Contains("number of accelerators") && !Contains("\x1b"));
}

TEST_CASE("three runs give an efficiency without an interval") {
  PublishedEntry small = published("acme", "a", 1, 60.0), big = published("acme", "b", 2, 31.0);
  small.runs.resize(3);
  big.runs.resize(3);
  const auto scaling = published_scaling({small, big});
  CHECK(scaling.series.at(0).points[1].efficiency.value == Approx(60.0 / 62.0));
  CHECK(std::isnan(scaling.series[0].points[1].efficiency.low));
  keeps_to_scaling_schema(scaling);
}

TEST_CASE("efficiencies of published rounds match an independent computation") {
  const std::string file = "../shared/data/mlperf/expected_scores.json";
  if (!std::filesystem::exists(file)) {
    WARN("skipped: " + file + " is not there");
    return;
  }
  const auto scaling = published_scaling(expected_entries(file));
  struct Expected {
    const char *benchmark, *accelerator;
    std::size_t point;
    double accelerators, efficiency, throughput;
  };
  for (const Expected& expected : {Expected{"llama31_405b", "GB200", 1, 2560, 0.90, kNoValue},
                                   Expected{"llama31_405b", "GB200", 2, 5120, 0.85, kNoValue},
                                   Expected{"llama31_8b", "GB300", 1, 72, 0.59, kNoValue},
                                   Expected{"llama31_8b", "GB300", 2, 512, 0.20, 0.25},
                                   Expected{"llama2_70b_lora", "GB300", 2, 512, 0.22, 0.52},
                                   Expected{"flux1", "GB200", 1, 72, 0.72, 0.99},
                                   Expected{"flux1", "GB200", 3, 1152, 0.18, 0.26},
                                   Expected{"retinanet", "GB200", 2, 512, 0.25, 0.38}}) {
    INFO(expected.benchmark << " " << expected.accelerators);
    const PublishedSeries* series = series_of(scaling, expected.benchmark, expected.accelerator);
    REQUIRE(series != nullptr);
    REQUIRE(series->points.size() > expected.point);
    const PublishedPoint& point = series->points[expected.point];
    CHECK(point.accelerators == expected.accelerators);
    CHECK(std::abs(point.efficiency.value - expected.efficiency) < 0.0051);
    if (std::isfinite(expected.throughput))
      CHECK(std::abs(point.throughput_efficiency - expected.throughput) < 0.0051);
  }
  keeps_to_scaling_schema(scaling);
}

}  // namespace bench::mlperf

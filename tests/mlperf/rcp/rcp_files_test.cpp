#include "mlperf/rcp/rcp_files.h"

#include <filesystem>

#include "core/error.h"
#include "core/whole_file.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench::mlperf {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = "../shared/data/mlperf";  // from the root of the project

RcpSet ten_runs() {
  return {.ruleset = "5.1.0", .benchmark = "flux1", .runs = 10, .unit = "samples"};
}

Json flux_point(const Json& batch, const Json& trainings) {
  return {{"p", {{"Benchmark", "flux1"}, {"BS", batch}, {"Epochs to converge", trainings}}}};
}

std::string points_error(const Json& json) {
  try {
    published_points(json, ten_runs(), "rcps_flux1.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void same_point(const RcpPoint& a, const RcpPoint& b) {
  CHECK(a.name == b.name);
  CHECK(a.batch == b.batch);
  CHECK(a.n == b.n);
  CHECK(a.mean == Approx(b.mean).epsilon(1e-12));
  CHECK(a.stdev == Approx(b.stdev).epsilon(1e-12).margin(1e-12));
  CHECK(a.kept == b.kept);
}

}  // namespace

TEST_CASE("the bundled reference points of every round match their schema and name their source") {
  const auto rounds = rcp_rulesets(rcp_folder());
  CHECK(rounds == std::vector<std::string>{"5.0.0", "5.1.0", "6.0.0", "6.1.0"});
  for (const std::string& round : rounds)
    for (const auto& [benchmark, set] : load_rcps(rcp_folder(), round)) {
      INFO(round << " " << benchmark);
      CHECK(set.ruleset == round);
      CHECK(set.benchmark == benchmark);
      CHECK_FALSE(set.points.empty());
      const bool named =
          set.source.starts_with("mlcommons/logging ") || set.source.starts_with("mlperf_logging ");
      CHECK(named);
    }
}

TEST_CASE("an unknown round is rejected with the known ones") {
  try {
    load_rcps(rcp_folder(), "5.1");
    FAIL("was taken");
  } catch (const Error& error) {
    CHECK(error.hint().find("5.1.0") != std::string::npos);
  }
}

TEST_CASE("a round that refers to itself for points is rejected") {
  const TemporaryDirectory folder;
  write_file(folder.path() / "7.0.0.json",
             R"({"ruleset": "7.0.0", "source": "s", "benchmarks": {"a": {"as": "7.0.0"}}})");
  CHECK_THROWS_WITH(load_rcps(folder.path(), "7.0.0"),
                    Catch::Contains("refers to a round without points"));
}

TEST_CASE("published points are read in both spellings, in ascending batch order") {
  Json json = flux_point(1024, {5, 6, 7});
  json["q"] = {{"Benchmark", "flux1"}, {"BS", 512}, {"samples to converge", {3.5, 4, 4, 9}}};
  const auto points = published_points(json, ten_runs(), "f");
  REQUIRE(points.size() == 2);
  CHECK(points[0].batch == 512);
  CHECK(points[0].mean == 4.0);
  CHECK(points[1].mean == 6.0);
}

TEST_CASE("damaged published points are rejected with the point and the value") {
  CHECK(points_error(flux_point(512, {1, 2, 3})).empty());
  CHECK(points_error(Json::array()).find("no reference convergence points") != std::string::npos);
  CHECK(points_error(flux_point("512", {1, 2, 3})).find("\"512\"") != std::string::npos);
  CHECK(points_error(flux_point(-1, {1, 2, 3})).find("-1") != std::string::npos);
  CHECK(points_error(flux_point(512, {1, 2})).find("lists 2 trainings") != std::string::npos);
  CHECK(points_error(flux_point(512, {1, 2, nullptr})).find("null") != std::string::npos);
  CHECK(points_error(flux_point(512, {1, 2, 0})).find("0") != std::string::npos);
  Json other = flux_point(512, {1, 2, 3});
  other["p"]["Benchmark"] = "rgat";
  CHECK(points_error(other).find("rgat") != std::string::npos);
  CHECK(points_error({{"\x1b[2J", 3}}).find('\x1b') == std::string::npos);
}

TEST_CASE("a folder without published points of the round is rejected") {
  const TemporaryDirectory folder;
  RcpSets sets = load_rcps(rcp_folder(), "5.1.0");
  CHECK_THROWS_AS(use_published_rcps(sets, folder.path()), Error);
}

TEST_CASE("the bundled points are those published by MLCommons") {
  if (!fs::exists(kShared)) {
    WARN("skipped: ../shared/data is not there");
    return;
  }
  int files = 0;
  for (const char* round : {"5.1.0", "6.0.0", "6.1.0"}) {
    const RcpSets ours = load_rcps(rcp_folder(), round);
    RcpSets theirs = ours;
    use_published_rcps(theirs, kShared / "rcps");
    for (const auto& [benchmark, set] : ours) {
      INFO(round << " " << benchmark);
      if (theirs.at(benchmark).source == set.source) continue;  // its file is missing
      ++files;
      REQUIRE(set.points.size() == theirs.at(benchmark).points.size());
      for (std::size_t i = 0; i < set.points.size(); ++i)
        same_point(set.points[i], theirs.at(benchmark).points[i]);
    }
  }
  CHECK(files == 20);
}

TEST_CASE("means, deviations, minima and pruning match the official checker in three rounds") {
  if (!fs::exists(kShared)) {
    WARN("skipped: ../shared/data is not there");
    return;
  }
  const Json expected = read_json(kShared / "rcp_expected.json");
  int compared = 0;
  for (const auto& [round, benchmarks] : expected.items()) {
    const RcpSets sets = load_rcps(rcp_folder(), round);
    for (const auto& [benchmark, points] : benchmarks.items())
      for (const Json& point : points)
        for (const RcpPoint& own : sets.at(benchmark).points) {
          if (point["name"] != own.name) continue;
          INFO(round << " " << own.name);
          ++compared;
          CHECK(own.n == point["n"]);
          CHECK(own.mean == Approx(point["mean"].get<double>()).epsilon(1e-12));
          CHECK(own.stdev == Approx(point["stdev"].get<double>()).epsilon(1e-12).margin(1e-12));
          CHECK(own.minimum == Approx(point["min_epochs"].get<double>()).epsilon(1e-12));
          CHECK(own.max_speedup == Approx(point["max_speedup"].get<double>()).epsilon(1e-12));
          CHECK(own.kept == point["kept_after_prune"]);
        }
  }
  CHECK(compared == 86);
}

}  // namespace bench::mlperf

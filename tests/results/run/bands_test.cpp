// Bands of the field: their file, where a figure lies, what a report says of it.
#include "results/run/bands.h"

#include <set>

#include "core/error.h"
#include "results/output/document/markdown.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/run/banded_figures.h"
#include "tests/results/run_fixture.h"
#include "tests/results/training_fixture.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

Band band(double low, double high) {
  Band made;
  made.id = "made";
  made.metrics = {"training.mfu"};
  made.low = low;
  made.high = high;
  made.context = "a made training";
  made.source = "a test";
  return made;
}

Json document(const Json& changes) {
  Json one = {{"id", "made"}, {"metrics", {"training.mfu"}},  {"kind", "reached"}, {"low", 0.3},
              {"high", 0.5},  {"context", "a made training"}, {"source", "a test"}};
  one.update(changes);
  return {{"bands", {one}}};
}

std::string band_refusal(const Json& json) {
  try {
    BandCatalogue::from_json(json, "bands.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

bool declares(const std::string& metric) {
  const auto dot = metric.find('.');
  const Json schema = read_json("schemas/probes/" + metric.substr(0, dot) + ".json");
  return schema.at("metrics").contains(metric.substr(dot + 1));
}

}  // namespace

TEST_CASE("an interval lies within a band, beyond one of its ends, or spans one") {
  const Band mfu = band(0.38, 0.43);
  CHECK(position_in(mfu, {0.39, 0.41}, Better::higher) == BandPosition::within);
  CHECK(position_in(mfu, {0.45, 0.46}, Better::higher) == BandPosition::better);
  CHECK(position_in(mfu, {0.20, 0.21}, Better::higher) == BandPosition::worse);
  CHECK(position_in(mfu, {0.37, 0.39}, Better::higher) == BandPosition::undecided);
  CHECK(position_in(mfu, {0.20, 0.21}, Better::lower) == BandPosition::better);
  CHECK(position_in(mfu, {0.45, 0.46}, Better::lower) == BandPosition::worse);
  CHECK(position_in(mfu, {kNoValue, 0.4}, Better::higher) == BandPosition::undecided);
}

TEST_CASE("a band that is open at one end is met or missed") {
  const Band goodput = band(0.9, kNoValue), stall = band(kNoValue, 0.1);
  CHECK(position_in(goodput, {0.95, 0.95}, Better::higher) == BandPosition::within);
  CHECK(position_in(goodput, {0.85, 0.85}, Better::higher) == BandPosition::worse);
  CHECK(position_in(stall, {0.0, 0.0}, Better::lower) == BandPosition::within);
  CHECK(position_in(stall, {0.2, 0.3}, Better::lower) == BandPosition::worse);
  CHECK(range_text(goodput) == "at least 90 %");
  CHECK(range_text(stall) == "at most 10 %");
  CHECK(range_text(band(0.2634, 0.4644)) == "26.34 to 46.44 %");
  CHECK(range_text(band(0.93, 0.93)) == "93 %");
}

TEST_CASE("invalid bands are refused, naming the band") {
  CHECK(band_refusal(document(Json::object())) == "none");
  CHECK_THAT(band_refusal(document({{"low", 0.6}})), Contains("'made' has low 0.6 above high 0.5"));
  Json open = document(Json::object());
  open["bands"][0].erase("low");
  open["bands"][0].erase("high");
  CHECK_THAT(band_refusal(open), Contains("'made' has neither low nor high"));
  Json twice = document(Json::object());
  twice["bands"].push_back(twice["bands"][0]);
  CHECK_THAT(band_refusal(twice), Contains("'made' is there twice"));
  CHECK_THAT(band_refusal(document({{"kind", "hoped"}})), Contains("/bands/0/kind"));
  CHECK_THAT(band_refusal(document({{"url", "x"}})), Contains("url"));
  Json without_source = document(Json::object());
  without_source["bands"][0].erase("source");
  CHECK_THAT(band_refusal(without_source), Contains("source"));
}

TEST_CASE("the installed bands are of declared shares, each with a source") {
  const BandCatalogue& bands = BandCatalogue::installed();
  CHECK(bands.all().size() >= 15);
  std::set<std::string> ids;
  for (const Band& one : bands.all()) {
    INFO(one.id);
    CHECK(ids.insert(one.id).second);
    for (const std::string& metric : one.metrics) CHECK(declares(metric));
    CHECK((one.source.find("arXiv:") != std::string::npos ||
           one.source.find("github.com/") != std::string::npos ||
           one.source.find("FAST ") != std::string::npos));
  }
}

TEST_CASE("a band applies to its metric, device, workload and parameters only") {
  Band one = band(0.3, 0.5);
  one.device = "cuda";
  one.workloads = {"llm"};
  one.where = {{"peak", "given"}};
  const BandCatalogue bands({one});
  const BandSubject subject{"training.mfu", "cuda", "llm", {{"peak", "given"}, {"ranks", 2}}};
  const auto applies = [&](auto&& change) {
    BandSubject other = subject;
    change(other);
    return !bands.of(other).empty();
  };
  CHECK(applies([](BandSubject&) {}));
  CHECK_FALSE(applies([](BandSubject& other) { other.metric = "training.hfu"; }));
  CHECK_FALSE(applies([](BandSubject& other) { other.device = "host"; }));
  CHECK_FALSE(applies([](BandSubject& other) { other.workload = "dlrm"; }));
  CHECK_FALSE(applies([](BandSubject& other) { other.params["peak"] = "measured"; }));
  CHECK_FALSE(applies([](BandSubject& other) { other.params = Json::object(); }));
}

TEST_CASE("figures of one metric and case are compared as one, and differ where they differ") {
  const BandCatalogue bands({band(0.3, 0.5)});
  const auto figure = [](double value) {
    return BandedFigure{
        "train", {"training.mfu", "cuda", "llm"}, Better::higher, value, {value, value}};
  };
  const auto within = compare_with_bands({figure(0.35), figure(0.4)}, bands);
  REQUIRE(within.size() == 1);
  CHECK(within[0].figures == 2);
  CHECK(within[0].lowest == 0.35);
  CHECK(within[0].highest == 0.4);
  CHECK(within[0].position == BandPosition::within);
  const auto differing = compare_with_bands({figure(0.35), figure(0.2), figure(0.4)}, bands);
  CHECK(differing.at(0).position == BandPosition::undecided);
  CHECK(compare_with_bands({figure(0.2), figure(0.1)}, bands).at(0).position ==
        BandPosition::worse);
}

TEST_CASE("a run's report shows published figures with their sources") {
  RunFixture run;
  run.job("l", "images", "data_loader");
  Samples stall = samples("stall", 0.25);
  stall.unit = Unit::ratio;
  stall.better = Better::lower;
  run.add("l", stall).outcome("l");
  const RunReport report = make_run_report(run.records());
  REQUIRE(report.bands.size() == 2);
  const std::string text = to_markdown(to_document(report));
  CHECK_THAT(text, Contains("Published figures"));
  CHECK_THAT(text, Contains("asked for at most 10 %"));
  CHECK_THAT(text, Contains("not met"));
  CHECK_THAT(text, Contains("MLPerf Storage v2.0"));
  CHECK_THAT(text, Contains("observed 10 to 70 %"));
  const Json json = to_json(report);
  REQUIRE(json["bands"].size() == 2);
  CHECK(json["bands"][0]["band"] == "stall_mlperf_storage");
  CHECK(json["bands"][0]["position"] == "worse");
  CHECK(json["bands"][0]["low"].is_null());
  CHECK(json["exit_code"] == 0);  // a band is no gate
}

}  // namespace bench

#include "runner/hardware/ceilings.h"

#include "core/clean.h"
#include "tests/runner/test_catalogue.h"
#include "tests/support/catch.h"

using namespace bench;

namespace {

Job job(const std::string& probe, const Json& params = Json::object()) {
  Job result;
  result.id = "id." + probe;
  result.probe = probe;
  result.params = params;
  return result;
}

Samples peak(double value, const Json& params, Status outcome = Status::ok) {
  Samples samples;
  samples.metric = "throughput";
  samples.better = Better::higher;
  samples.params = params;
  samples.values = {value, value, value * 100};
  samples.flags = {kClean, kClean, kStolen};
  samples.outcome = outcome;
  return samples;
}

const Json kF32 = {{"dtype", "f32"}, {"threads", 1}};

}  // namespace

TEST_CASE(
    "a measured ceiling is the median of the clean samples, under the names of what it bounds") {
  const auto catalogue = test_catalogue();
  Ceilings ceilings(catalogue);
  ceilings.observe(job("peak"), peak(10, kF32));
  const auto limits = ceilings.limits_for(job("gemm"));
  REQUIRE(limits.size() == 1);
  CHECK(limits[0].metric == "throughput");
  CHECK(limits[0].params == Json{{"dtype", "f32"}, {"cores", 1}});
  CHECK(limits[0].limit.value == 10);
  CHECK(limits[0].limit.kind == LimitKind::measured);
}

TEST_CASE("a ceiling without a clean sample says so") {
  const auto catalogue = test_catalogue();
  for (const bool clean : {true, false}) {
    Ceilings ceilings(catalogue);
    Samples samples = peak(10, kF32);
    if (!clean) samples.flags = {kCrowded, kStolen, kStolen};
    ceilings.observe(job("peak"), samples);
    const std::string source = ceilings.limits_for(job("gemm")).at(0).limit.source;
    CHECK(source.ends_with(kDisturbedSource) == !clean);
  }
}

TEST_CASE("a parameter of the job stands in for one the series does not state") {
  const auto catalogue = test_catalogue();
  Ceilings ceilings(catalogue);
  ceilings.observe(job("peak", {{"threads", 2}}), peak(10, {{"dtype", "f32"}}));
  REQUIRE(ceilings.limits_for(job("gemm")).size() == 1);
  CHECK(ceilings.limits_for(job("gemm"))[0].params["cores"] == 2);
}

TEST_CASE("of several ceilings for the same parameters the best counts") {
  const auto catalogue = test_catalogue();
  Ceilings ceilings(catalogue);
  for (const double value : {10.0, 12.0, 11.0}) ceilings.observe(job("peak"), peak(value, kF32));
  REQUIRE(ceilings.limits_for(job("gemm")).size() == 1);
  CHECK(ceilings.limits_for(job("gemm"))[0].limit.value == 12);
}

TEST_CASE("a series that is not ok, or failed its check, bounds nothing") {
  const auto catalogue = test_catalogue();
  Ceilings ceilings(catalogue);
  ceilings.observe(job("peak"), peak(10, kF32, Status::invalid));
  Samples wrong = peak(10, kF32);
  wrong.check = Check{"exact", 1.0, 0.0};
  ceilings.observe(job("peak"), wrong);
  ceilings.observe(job("peak"), peak(10, {{"threads", 1}}));  // states no dtype
  CHECK(ceilings.limits_for(job("gemm")).empty());
}

TEST_CASE("a job with a discarded result removes its limits") {
  const auto catalogue = test_catalogue();
  Ceilings ceilings(catalogue);
  ceilings.observe(job("peak"), peak(10, kF32));
  ceilings.forget("id.peak");
  CHECK(ceilings.limits_for(job("gemm")).empty());
}

TEST_CASE(
    "a ceiling bounds only jobs of the same ranks, hosts and device, and only where one is "
    "declared") {
  const auto catalogue = test_catalogue();
  Ceilings ceilings(catalogue);
  ceilings.observe(job("peak"), peak(10, kF32));
  Job other = job("gemm");
  other.ranks = 2;
  CHECK(ceilings.limits_for(other).empty());
  other = job("gemm");
  other.device = "cuda";
  CHECK(ceilings.limits_for(other).empty());
  CHECK(ceilings.limits_for(job("peak")).empty());
}

TEST_CASE("a per-rank limit is measured by one rank per host, and the slowest host counts") {
  const ProbeCatalogue catalogue({probe_entry(Json::parse(R"({
    "title": "train", "description": "x", "devices": ["host"], "type": "object", "properties": {},
    "metrics": {"flops": {"unit": "FLOP/s", "better": "higher", "limit":
        {"metric": "peak.throughput", "where": {"dtype": "dtype"}, "per_rank": true}}}})"),
                                              "train.json")});
  Ceilings ceilings(catalogue);
  const auto measured = [&](const std::string& host, double value) {
    Job one = job("peak");
    one.id += host;
    one.hosts = {host};
    ceilings.observe(one, peak(value, kF32));
  };
  Job training = job("train");
  training.hosts = {"a", "b"};
  training.ranks = 4;
  measured("a", 10.0);
  CHECK(ceilings.limits_for(training).empty());  // nothing is known of the other host
  measured("b", 8.0);
  const auto limits = ceilings.limits_for(training);
  REQUIRE(limits.size() == 1);
  CHECK(limits[0].limit.value == 8.0);
  CHECK(limits[0].params == Json{{"dtype", "f32"}});
}

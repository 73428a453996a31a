#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("DCGM diag: a verdict for each test and GPU, and the numbers of its pcie test") {
  const CollectedImport sink = imported("dcgm-diag", "dcgm-diag/diag.json");
  CHECK(sink.of("passed").size() == 5);
  CHECK(sink.value("device_to_host_bandwidth", {{"entity", "GPU 0"}}) == Approx(53.21e9));
  CHECK(sink.value("bidirectional_latency", {{"entity", "GPU 0"}}) == Approx(2.19e-6));
  const auto software = sink.of("passed", {{"entity", "GPU 1"}}).front();
  CHECK(software.job.name == "software");
  CHECK(software.samples.values[0] == 1.0);
  CHECK(software.samples.better == Better::higher);
  CHECK(sink.facts_.at(0).facts["libraries"]["driver"] == "570.86.15");
  CHECK_FALSE(has_part(sink.all(), "1000000000001"));  // serial numbers stay out
}

TEST_CASE("DCGM diag: a failed GPU fails its test with the warning, a skipped one is reported") {
  const CollectedImport sink = imported("dcgm-diag", "dcgm-diag/diag.json");
  REQUIRE(sink.ends.size() == 1);  // the summary says the same again
  CHECK(sink.ends[0].job.name == "pcie");
  CHECK(sink.ends[0].status == Status::failed);
  CHECK(has_part(sink.ends[0].reason, "GPU 1: Bandwidth of GPU 1"));
  for (const auto& entry : sink.of("host_to_device_bandwidth", {{"entity", "GPU 1"}}))
    CHECK(entry.samples.outcome == Status::failed);
  for (const auto& entry : sink.of("passed", {{"entity", "GPU 1"}}))
    if (entry.job.name == "pcie") CHECK(entry.samples.values[0] == 0.0);
  CHECK(has_part(sink.all(), "'memory' was skipped: GPU 1: GPU 1 is busy"));
}

TEST_CASE("DCGM diag: a failure that only the summary of a test states is a failure") {
  CollectedImport sink;
  import_text("dcgm-diag",
              R"({"DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": [{
                   "name": "memory", "test_summary": {"status": "Fail"},
                   "results": [{"entity_group": "GPU", "entity_id": 0, "status": "Pass"}]}]}]}})",
              sink);
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].reason == "DCGM: failed without a reason");
  CHECK(sink.of("passed").at(0).samples.values == std::vector<double>{1.0});
  CHECK(sink.of("passed").at(1).samples.values == std::vector<double>{0.0});
}

TEST_CASE("DCGM diag: iterations are samples, and an aborted one fails") {
  const CollectedImport sink = imported("dcgm-diag", "dcgm-diag/iterations.json");
  CHECK(sink.of("passed").at(0).samples.values.size() == 2);
  CHECK(sink.ends.empty());
  CollectedImport aborted;
  import_text("dcgm-diag",
              edited(import_sample("dcgm-diag/iterations.json"), "\"Overall Result\": \"Pass\"",
                     "\"Overall Result\": \"Fail\", \"Warning\": \"Timeout\""),
              aborted);
  REQUIRE(aborted.ends.size() == 1);
  CHECK(aborted.ends[0].reason == "dcgmi diag: Timeout");
}

TEST_CASE("DCGM diag of version 3: GPUs by number, warnings of its software tests") {
  const CollectedImport sink = imported("dcgm-diag", "dcgm-diag/version3.json");
  CHECK(sink.value("host_to_device_bandwidth", {{"entity", "GPU 0"}}) == Approx(25.1e9));
  REQUIRE(sink.ends.size() == 1);
  CHECK(has_part(sink.ends[0].reason, "CUDA_VISIBLE_DEVICES"));
  CHECK(sink.facts_.at(0).facts["version"] == "3.3.9");
}

TEST_CASE(
    "DCGM diag: a number that is printed twice is skipped, as its kind of memory is unknown") {
  CollectedImport sink;
  import_text("dcgm-diag",
              edited(import_sample("dcgm-diag/diag.json"), "Host to GPU bandwidth:\\t\\t54.98",
                     "GPU to Host bandwidth:\\t\\t54.98"),
              sink);
  CHECK(sink.of("device_to_host_bandwidth", {{"entity", "GPU 0"}}).empty());
  CHECK(has_part(sink.all(), "skipped 1 numbers of the test pcie"));
}

TEST_CASE("DCGM diag that did not run, or is truncated, is refused") {
  CHECK_THAT(
      refusal("dcgm-diag",
              "{\"DCGM Diagnostic\":{\"runtime_error\":\"Unable to connect\",\"version\":\"4\"}}"),
      Contains("did not run: Unable to connect"));
  const std::string whole = import_sample("dcgm-diag/diag.json");
  for (std::size_t at = 0; at < whole.size() - 3; at += 97)
    CHECK(refusal("dcgm-diag", whole.substr(0, at)) != "");
  CHECK_THAT(refusal("dcgm-diag", edited(whole, "\"Skip\"", "\"Maybe\"")),
             Contains("Pass, Skip, Warn or Fail") && Contains("Maybe"));
  CHECK_THAT(refusal("dcgm-diag", "Successfully ran diagnostic for group.\n"),
             Contains("no JSON found"));
}

}  // namespace
}  // namespace bench

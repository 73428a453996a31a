#include "tests/support/catch.h"
#include "tests/support/collected_import.h"

namespace bench {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("LoadGen's Server: rates, latencies of requests, first tokens and later ones") {
  const CollectedImport sink = imported("mlperf-inference", "mlperf-inference/server.txt");
  CHECK(sink.value("throughput") == Approx(101.40));
  CHECK(sink.value("offered_rate") == Approx(103.81));
  CHECK(sink.value("token_throughput") == Approx(29522.56));
  CHECK(sink.value("latency") == Approx(38.0));
  CHECK(sink.value("latency_p999") == Approx(140.0));
  CHECK(sink.value("first_token_latency_p99") == Approx(1.760966679));
  CHECK(sink.value("time_per_output_token_max") == Approx(1.358427611));
  const auto one = sink.of("throughput").at(0);
  CHECK(one.job.name == "server");
  CHECK(one.samples.params["target_qps"] == 104.0);
  CHECK(one.samples.params["sut"] == "PySUT");
  CHECK(sink.of("offered_rate").at(0).samples.better == Better::none);
  CHECK(sink.entries.size() == 30);
  CHECK(sink.ends.empty());
}

TEST_CASE("LoadGen's Offline has no latencies, as all samples are sent at once") {
  const CollectedImport sink = imported("mlperf-inference", "mlperf-inference/offline.txt");
  CHECK(sink.value("throughput") == Approx(118.25));
  CHECK(sink.value("token_throughput") == Approx(34612.7));
  CHECK(sink.entries.size() == 2);
  REQUIRE(sink.notes.size() == 1);
  CHECK_THAT(sink.notes[0], Contains("were left out"));
}

TEST_CASE("LoadGen's streams") {
  const CollectedImport single = imported("mlperf-inference", "mlperf-inference/single_stream.txt");
  CHECK(single.value("throughput") == Approx(980.39));
  CHECK(single.value("latency_p90") == Approx(1.1e-3));
  const CollectedImport multi = imported("mlperf-inference", "mlperf-inference/multi_stream.txt");
  CHECK(multi.value("latency_p99", {{"samples_per_query", 8.0}}) == Approx(6.4e-3));
}

TEST_CASE("LoadGen: an invalid result stays invalid, with what was not satisfied") {
  const CollectedImport sink = imported("mlperf-inference", "mlperf-inference/invalid.txt");
  for (const auto& entry : sink.entries) CHECK(entry.samples.outcome == Status::invalid);
  REQUIRE(sink.ends.size() == 1);
  CHECK(sink.ends[0].reason ==
        "LoadGen: the result is INVALID; not satisfied: Performance constraints, Early stopping");
  CollectedImport errors;
  import_text(
      "mlperf-inference",
      edited(import_sample("mlperf-inference/server.txt"), "No errors encountered during test.",
             "2 ERRORS encountered. See detailed log."),
      errors);
  CHECK(errors.entries.at(0).samples.outcome == Status::invalid);
  CHECK_THAT(errors.ends.at(0).reason, Contains("errors were logged"));
}

TEST_CASE("LoadGen: what contradicts itself is not valid, and a SUT may be named as an address") {
  const std::string whole = import_sample("mlperf-inference/server.txt");
  CollectedImport unmet;
  import_text("mlperf-inference",
              edited(whole, "Min duration satisfied : Yes", "Min duration satisfied : NO"), unmet);
  CHECK(unmet.ends.at(0).reason == "LoadGen: the result is VALID; not satisfied: Min duration");
  CollectedImport named;
  import_text("mlperf-inference", edited(whole, "SUT name : PySUT", "SUT name : vllm:8000"), named);
  CHECK(named.entries.at(0).samples.params["sut"] == "vllm:8000");
}

TEST_CASE("LoadGen: in a submission the folders name system and model") {
  std::istringstream text(import_sample("mlperf-inference/server.txt"));
  CollectedImport sink;
  import_mlperf_inference(
      {text, "results/8xH200/llama2-70b-99/Server/performance/run_1/mlperf_log_summary.txt"}, sink);
  CHECK(sink.entries.at(0).samples.params["system"] == "8xH200");
  CHECK(sink.entries.at(0).samples.params["model"] == "llama2-70b-99");
}

TEST_CASE("LoadGen: truncated, foreign and accuracy summaries are refused") {
  const std::string whole = import_sample("mlperf-inference/server.txt");
  const auto refused = [](const std::string& text) { return refusal("mlperf-inference", text); };
  CHECK_THAT(refused(whole.substr(0, whole.find("Test Parameters"))),
             Contains("ends with the number of errors"));
  CHECK_THAT(refused(whole.substr(0, whole.find("No errors"))),
             Contains("ends with the number of errors"));
  CHECK_THAT(refused(edited(whole, "PerformanceOnly", "AccuracyOnly")), Contains("not the mode"));
  CHECK_THAT(refused(edited(whole, "Scenario : Server", "Scenario : Wild")), Contains("scenario"));
  CHECK_THAT(refused(edited(whole, ": 101.40", ": many")), Contains("no number"));
  CHECK_THAT(refused(edited(whole, "Mean latency (ns)", "Middle latency (ns)")),
             Contains("unknown key"));
  CHECK_THAT(refused(edited(whole, "Result is : VALID", "Result is : FINE")), Contains("neither"));
  CHECK_THAT(refused(edited(whole, "Scenario : Server\n", "")), Contains("nothing named scenario"));
  CHECK_THAT(refused(edited(whole, "Mode     : PerformanceOnly\n", "")),
             Contains("scenario and mode"));
  CHECK_THAT(
      refused(edited(whole, "Result is : VALID\n", "Result is : INVALID\nResult is : VALID\n")),
      Contains("the same again"));
  CHECK_THAT(refused(edited(whole, "Min duration satisfied", "Whatever satisfied")),
             Contains("no number"));
  CHECK_THAT(refused("hello\n" + whole), Contains("before"));
  CHECK_THAT(refused(whole + whole), Contains("second summary"));
}

TEST_CASE("MLPerf Endpoints: rates and latencies under a load") {
  const CollectedImport sink = imported("mlperf-endpoints", "mlperf-endpoints/result_summary.json");
  CHECK(sink.value("throughput", {{"load", "concurrency"}, {"target_concurrency", 256.0}}) ==
        Approx(83.33));
  CHECK(sink.value("token_throughput", {{"rate_window", "whole run"}}) == Approx(17500));
  CHECK(sink.value("first_token_latency_p999") == Approx(0.89));
  CHECK(sink.value("time_per_output_token") == Approx(10.5e-3));
  CHECK(sink.value("latency_max") == Approx(9.0));
  CHECK(sink.value("duration") == Approx(12.0));
  CHECK(sink.value("output_tokens_per_request") == Approx(210));
  CHECK(sink.value("failed_requests") == 0.0);
  CHECK(sink.ends.empty());
  CHECK(sink.facts_.at(0).facts["version"] == "0.1.0");
}

TEST_CASE("MLPerf Endpoints: requests that never completed make the run invalid") {
  const CollectedImport open = imported("mlperf-endpoints", "mlperf-endpoints/open_requests.json");
  for (const auto& entry : open.entries) CHECK(entry.samples.outcome == Status::invalid);
  CHECK(open.ends.at(0).reason == "MLPerf Endpoints: 130 of 1000 requests never completed");
  CHECK(open.value("throughput", {{"rate_window", "loadgen"}, {"target_qps", 85.0}}) == Approx(79));
  CHECK(open.of("time_per_output_token").empty());
  CollectedImport failing;
  import_text("mlperf-endpoints",
              edited(import_sample("mlperf-endpoints/result_summary.json"),
                     "\"n_samples_failed\": 0", "\"n_samples_failed\": 7"),
              failing);
  CHECK(failing.ends.at(0).reason == "MLPerf Endpoints: 7 of 1000 requests failed");
  CollectedImport stopped;
  import_text("mlperf-endpoints",
              edited(edited(import_sample("mlperf-endpoints/result_summary.json"),
                            "\"complete\": true", "\"complete\": false"),
                     "\"state\": \"complete\"", "\"state\": \"interrupted\""),
              stopped);
  CHECK(stopped.ends.at(0).reason == "MLPerf Endpoints: the run is not complete: interrupted");
}

TEST_CASE("MLPerf Endpoints: early summaries state less, and percentiles otherwise") {
  const CollectedImport sink = imported("mlperf-endpoints", "mlperf-endpoints/early.json");
  CHECK(sink.value("first_token_latency_p99") == Approx(0.8));
  CHECK(sink.of("throughput").empty());
  const std::string early = import_sample("mlperf-endpoints/early.json");
  CHECK_THAT(refusal("mlperf-endpoints", edited(early, "\"99\":", "\"99.9000\":")),
             Contains("stated twice"));
  CHECK_THAT(refusal("mlperf-endpoints", edited(early, "\"99\":", "\"most\":")),
             Contains("no percentile"));
  CHECK_THAT(refusal("mlperf-endpoints",
                     edited(early, "\"duration_ns\": 12000000000", "\"duration_ns\": \"long\"")),
             Contains("expected a number"));
  CHECK_THAT(refusal("mlperf-endpoints", "{}"), Contains("n_samples_issued"));
  CHECK_THAT(refusal("mlperf-endpoints", "[1]"), Contains("n_samples_issued"));
  CHECK_THAT(refusal("mlperf-endpoints", edited(early, "\"n_samples_completed\": 1000",
                                                "\"n_samples_completed\": null")),
             Contains("n_samples_completed is missing"));
  CHECK_THAT(refusal("mlperf-endpoints",
                     edited(early, "\"n_samples_issued\": 1000", "\"n_samples_issued\": 0")),
             Contains("no request was issued"));
}

}  // namespace
}  // namespace bench

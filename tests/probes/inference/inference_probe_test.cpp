// The probe `inference` on a little model: what it reports, and that wrong results are found.
#include "core/error.h"
#include "devices/host/host_device.h"
#include "tests/support/catch.h"
#include "tests/support/changed_norms.h"
#include "tests/support/probe_job.h"
#include "training/host/host_kernels.h"

namespace bench {
namespace {

/// Norms that differ from call to call, or between one row and several.
ChangedNorms::Change changing_norms(bool by_call) {
  return [by_call, calls = 0](training::View x, training::View y) mutable {
    if (by_call)
      y.as<float>()[0] += 0.01F * static_cast<float>(++calls % 97);
    else if (x.rows == 1)
      y.as<float>()[0] += 0.05F;
  };
}

struct InferenceJob : ProbeJob {
  std::unique_ptr<Device> host = make_host_device(make_host_training_kernels);

  explicit InferenceJob(Json params) : ProbeJob("inference", tiny(std::move(params))) {
    job.measure.max_time_s = 0.01;
    job.measure.warm_up_max_s = 0.01;
  }
  static Json tiny(Json params) {
    const Json defaults = {{"preset", "tiny"},
                           {"weights", {"int8"}},
                           {"threads", 1},
                           {"batches", Json::array()},
                           {"prompt_tokens", Json::array()},
                           {"load_prompt_tokens", {4, 20}},
                           {"output_tokens", {2, 20}}};
    for (const auto& [name, value] : defaults.items())
      if (!params.contains(name)) params[name] = value;
    return params;
  }
  Outcome run_here() { return run_on(*host, *group); }
};

TEST_CASE("a probe of inference reports decoding and prompts by batch and type, with limits") {
  InferenceJob job({{"weights", {"f32", "int4"}}, {"batches", {1, 3}}, {"prompt_tokens", {20}}});
  job.job.limits = {
      {"traffic", {{"threads", 1}}, {1e12, LimitKind::measured, "memory"}},
      {"throughput", {{"dtype", "f32"}, {"threads", 1}}, {1e12, LimitKind::measured, "gemm"}}};
  REQUIRE(job.run_here().status == Status::ok);
  CHECK(job.of("decode_rate").size() == 4);
  CHECK(job.of("prompt_rate").size() == 2);
  CHECK(job.of("log_probability_error").size() == 2);
  for (const Samples& samples : job.of("decode_rate")) {
    REQUIRE(samples.check);
    CHECK(samples.check->passed());
    REQUIRE(samples.limit);
    // What a pass reads: more than 80,000 weights of matrices, of half a byte or four.
    const double batch = samples.params.at("batch");
    CHECK(samples.limit->value < batch * 1e12 / 4e4);
    CHECK(samples.limit->value > batch * 1e12 / 1e6);
  }
  CHECK(job.of("prompt_rate").at(0).limit);
  CHECK_FALSE(job.of("prompt_rate").at(1).limit);  // products of int8
  CHECK(job.of("weights").at(0).values.at(0) > 3.0 * job.of("weights").at(1).values.at(0));
}

TEST_CASE("logits that depend on the batch, or differ from training's, are invalid") {
  const Json params = {{"weights", {"f32"}}, {"batches", {3}}, {"prompt_tokens", {20}}};
  for (const bool by_call : {true, false}) {
    InferenceJob job(params);
    job.host = make_host_device(
        [by_call] { return std::make_unique<KernelsOfChangedNorms>(changing_norms(by_call)); });
    CHECK(job.run_here().status == Status::invalid);
    CHECK(job.of("decode_rate").at(0).check->passed() != by_call);
    CHECK_FALSE(job.of("log_probability_error").at(0).check->passed());
  }
}

TEST_CASE("a load of inference is measured offline, then at shares of that rate") {
  InferenceJob job({{"load_shares", {0.3, 10}},
                    {"seconds", 0.3},
                    {"ramp_s", 0.05},
                    {"drain_s", 0.1},
                    {"batching", {"continuous"}},
                    {"first_token_bound_s", 3600},
                    {"token_bound_s", 3600},
                    {"refinements", 0}});
  REQUIRE(job.run_here().status == Status::ok);
  CHECK(job.of("token_rate").size() == 3);
  CHECK(job.of("token_rate").at(0).params.at("load") == "offline");
  CHECK(job.of("offered_rate").size() == 2);
  CHECK_FALSE(job.of("first_token_latency").empty());
  REQUIRE(job.of("highest_rate").size() == 1);
  CHECK(job.of("highest_rate").at(0).outcome == Status::ok);
}

TEST_CASE("a trained model has the gap of its training, weights of few bits a larger one",
          "[long]") {
  InferenceJob job({{"trained", true}, {"weights", {"f32", "int4"}}, {"drafts", {4}}});
  REQUIRE(job.run_here().status == Status::ok);
  const auto gaps = job.of("gap");
  REQUIRE(gaps.size() == 2);
  CHECK(gaps.at(0).check->passed());
  CHECK(gaps.at(0).values.at(0) < 0.13);
  CHECK(job.of("gap_increase").at(0).values.at(0) > 0.001);
  CHECK(job.of("speculative_gain").size() == 2);
  REQUIRE(job.of("accepted_tokens").size() == 2);
  for (const Samples& samples : job.of("accepted_tokens")) {
    CHECK(samples.check->passed());
    CHECK(samples.values.at(0) > 1.5);
  }
}

TEST_CASE("what inference cannot measure is skipped or refused, saying why") {
  const auto refusal = [](const Json& params) {
    try {
      InferenceJob(params).run_here();
    } catch (const Error& error) {
      return error.text();
    }
    return std::string();
  };
  CHECK_THAT(refusal({{"prompt_tokens", {64}}, {"batches", {1}}}),
             Catch::Matchers::Contains("64 tokens and one more do not fit into 64"));
  CHECK_THAT(refusal({{"load_shares", {1}}, {"load_prompt_tokens", {4, 60}}}),
             Catch::Matchers::Contains("prompts of 60 and answers of 20 tokens do not fit"));
  CHECK_THAT(refusal({{"load_shares", {1}}, {"shared_prefix_tokens", 4}}),
             Catch::Matchers::Contains("prompts of 4 tokens and more cannot share their first 4"));
  CHECK_THAT(
      refusal({{"trained", true}, {"context", 32}}),
      Catch::Matchers::Contains("context is 32, but a model of preset tiny is trained on 64"));
  CHECK_THAT(refusal({{"batches", {1}}, {"threads", 1}}),
             Catch::Matchers::Contains("prompt_tokens is empty"));
  CHECK_THAT(refusal({{"output_tokens", {9, 2}}, {"threads", 1}}),
             Catch::Matchers::Contains("output_tokens is 9 to 2"));
  InferenceJob drafts(Json{{"drafts", {4}}});
  drafts.run_here();
  CHECK(drafts.of("speculative_gain").at(0).outcome == Status::skipped);
  InferenceJob small({{"max_bytes", 1000}, {"threads", 1}});
  small.run_here();
  CHECK(small.of("decode_rate").at(0).outcome == Status::skipped);
}

}  // namespace
}  // namespace bench

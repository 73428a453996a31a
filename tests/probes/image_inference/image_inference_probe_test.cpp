// The probe `image_inference` on little models: what it reports, and that wrong answers are found.
#include <algorithm>
#include <set>

#include "devices/host/host_device.h"
#include "tests/support/catch.h"
#include "tests/support/changed_norms.h"
#include "tests/support/probe_job.h"
#include "training/workloads/workload.h"

namespace bench {
namespace {

/// In norms: from call to call, in batches, or from those in f64.
enum class Fault { none, by_call, in_batches, in_f32 };

ChangedNorms::Change change_of(Fault fault) {
  return [fault, calls = 0](training::View x, training::View y) mutable {
    if (y.dtype != Dtype::f32) return;
    if (fault == Fault::by_call)
      y.as<float>()[0] += 1e-3F * static_cast<float>(++calls);
    else if (fault == Fault::in_f32 || (fault == Fault::in_batches && x.rows > 64))
      for (std::int64_t i = 0; i < y.elements(); ++i) y.as<float>()[i] *= 1.05F;
  };
}

struct ImageJob : ProbeJob {
  std::unique_ptr<Device> host;

  explicit ImageJob(Json params, Fault fault = Fault::none)
      : ProbeJob("image_inference", little(std::move(params))),
        host(make_host_device([fault]() -> std::unique_ptr<TrainingKernels> {
          return std::make_unique<KernelsOfChangedNorms>(change_of(fault));
        })) {
    job.measure.max_time_s = 0.01;
    job.measure.warm_up_max_s = 0.01;
  }
  static Json little(Json params) {
    const Json defaults = {
        {"preset", "tiny_vit"}, {"threads", 1},     {"batches", {1}}, {"scenarios", Json::array()},
        {"seconds", 0.1},       {"longest_s", 0.3}, {"samples", 3}};
    for (const auto& [name, value] : defaults.items())
      if (!params.contains(name)) params[name] = value;
    return params;
  }
  Outcome run_here() { return run_on(*host, *group); }
};

TEST_CASE("a probe of image inference reports rates, latencies and weights") {
  ImageJob job({{"batches", {1, 3}},
                {"scenarios", {"single_stream", "multi_stream", "server"}},
                {"load_shares", {0.2}},
                {"refinements", 0},
                {"bound_s", 0.1}});
  job.job.limits = {
      {"throughput", {{"dtype", "f32"}, {"threads", 1}}, {1e12, LimitKind::measured, "gemm"}}};
  REQUIRE(job.run_here().status == Status::ok);
  CHECK(job.of("image_rate").size() == 2);
  const double flops =
      training::make_workload("image", "tiny_vit", 1)->flops_per_sample() / 3.0;  // forward
  REQUIRE(job.of("image_rate")[0].limit.has_value());
  CHECK(job.of("image_rate")[0].limit->value == Approx(1e12 / flops));
  CHECK(job.of("weights").size() == 1);
  CHECK(job.of("answer_error").at(0).values.at(0) < 1e-5);
  CHECK(job.of("bound").at(0).values.at(0) == 0.1);
  std::set<std::string> scenarios;
  for (const Samples& samples : job.of("latency")) {
    const bool has_limit =
        samples.params.at("scenario") == "single_stream" && samples.params.at("quantile") == "p50";
    CHECK(samples.limit.has_value() == has_limit);
    if (has_limit) CHECK(samples.limit->value == Approx(flops / 1e12));
    scenarios.insert(samples.params.at("scenario").get<std::string>());
    if (samples.outcome == Status::ok) CHECK(samples.values.at(0) > 0.0);
  }
  CHECK(scenarios == std::set<std::string>{"multi_stream", "server", "single_stream"});
  CHECK(job.of("changed_answers").size() == 3);
  for (const Samples& samples : job.of("changed_answers")) CHECK(samples.outcome == Status::ok);
  CHECK(job.of("in_bound").size() == 1);
}

TEST_CASE("a bound that MLPerf does not set follows from the latency of a query alone") {
  const int threads = std::min(2, make_host_device()->cores());
  ImageJob job({{"workload", "flow"},
                {"preset", "tiny"},
                {"steps", 2},
                {"samples", 1},
                {"threads", threads},
                {"scenarios", {"server"}},
                {"load_shares", {0.2}},
                {"refinements", 0}});
  REQUIRE(job.run_here().status == Status::ok);
  CHECK(job.of("bound").at(0).values.at(0) > 0.0);
  CHECK(job.of("bound").at(0).params.at("bound") == "10 x alone");
  CHECK(job.of("bound").at(0).params.at("steps") == 2);
  CHECK(job.of("image_rate").at(0).params.at("threads") == threads);
}

TEST_CASE("a load that no bound allows has no highest rate") {
  ImageJob job({{"scenarios", {"server"}}, {"bound_s", 1e-6}, {"load_shares", {0.5, 0.7}}});
  REQUIRE(job.run_here().status == Status::ok);
  REQUIRE(job.of("highest_rate").size() == 1);
  CHECK(job.of("highest_rate")[0].outcome == Status::skipped);
  CHECK(job.of("in_bound").size() == 1);  // of the lower share alone
}

TEST_CASE("loads without a rate, without shares or with too few queries have no highest rate") {
  const auto reason = [](const Json& params) {
    ImageJob job(params);
    job.run_here();
    REQUIRE(job.of("highest_rate").size() == 1);
    CHECK(job.of("highest_rate")[0].outcome == Status::skipped);
    return job.of("highest_rate")[0].reason;
  };
  Json params = {{"scenarios", {"server"}}, {"bound_s", 0.1}, {"batches", Json::array()}};
  CHECK(reason(params).find("set batches") != std::string::npos);
  params.erase("batches");
  params["load_shares"] = Json::array();
  CHECK(reason(params).find("set load_shares") != std::string::npos);
  // Four or so of several thousand queries a second come in the time.
  params["load_shares"] = {0.01};
  CHECK(reason(params).find("increase longest_s") != std::string::npos);
}

TEST_CASE("a detector answers too") {
  ImageJob job({{"workload", "detect"}, {"preset", "tiny"}, {"scenarios", {"single_stream"}}});
  REQUIRE(job.run_here().status == Status::ok);
  CHECK(job.of("changed_answers").at(0).outcome == Status::ok);
  CHECK(job.of("answer_error").at(0).outcome == Status::ok);
}

TEST_CASE("answers that change, or depend on the batch, or are off, make a series invalid") {
  const auto verdict = [](Fault fault, const char* metric, const Json& params) {
    ImageJob job(params, fault);
    job.run_here();
    std::set<Status> all;
    for (const Samples& samples : job.of(metric)) all.insert(samples.outcome);
    return all;
  };
  using Statuses = std::set<Status>;
  CHECK(verdict(Fault::none, "image_rate", {{"batches", {1, 3}}}) == Statuses{Status::ok});
  CHECK(verdict(Fault::in_batches, "image_rate", {{"batches", {3}}}) == Statuses{Status::invalid});
  CHECK(verdict(Fault::by_call, "image_rate", Json::object()) == Statuses{Status::invalid});
  for (const char* scenario : {"single_stream", "multi_stream", "server"})
    CHECK(verdict(Fault::by_call, "changed_answers",
                  {{"scenarios", {scenario}}, {"bound_s", 0.1}}) == Statuses{Status::invalid});
  CHECK(verdict(Fault::in_f32, "answer_error", Json::object()) == Statuses{Status::invalid});
}

TEST_CASE("a model that needs more memory than the job may use is skipped") {
  ImageJob job(Json{{"max_bytes", 100000}});
  const Outcome outcome = job.run_here();
  CHECK(outcome.status == Status::skipped);
  REQUIRE(job.of("image_rate").size() == 1);
  CHECK(job.of("image_rate")[0].reason.find("needs") != std::string::npos);
}

TEST_CASE("a trained classifier answers as well as at the end of its training", "[long]") {
  ImageJob job({{"trained", true}, {"preset", "tiny"}});
  REQUIRE(job.run_here().status == Status::ok);
  CHECK(job.of("quality").at(0).values.at(0) > 0.5);
  CHECK(job.of("gap").at(0).outcome == Status::ok);
}

TEST_CASE("a trained flow makes images near the known distribution", "[long]") {
  ImageJob job({{"trained", true}, {"workload", "flow"}, {"preset", "tiny"}});
  REQUIRE(job.run_here().status == Status::ok);
  const double made = job.of("image_distance").at(0).values.at(0);
  const double best = job.of("best_image_distance").at(0).values.at(0);
  CHECK(best < 1.0);
  CHECK(made > best);
  CHECK(made < best + 0.25);
  CHECK(job.of("image_error").at(0).values.at(0) > 0.0);
  CHECK(job.of("image_error").at(0).values.at(0) < 0.6);
}

}  // namespace
}  // namespace bench

#include "devices/host/host_device.h"
#include "tests/support/catch.h"
#include "tests/support/probe_job.h"
#include "training/host/host_kernels.h"

namespace bench {
namespace {

/// Normalizes wrongly in f32.
class DamagedNorms final : public training::NormKernels {
 public:
  explicit DamagedNorms(std::unique_ptr<NormKernels> right) : right_(std::move(right)) {}
  void rms_forward(training::View x, training::View gain, double epsilon, training::View y,
                   training::View statistics) override {
    right_->rms_forward(x, gain, epsilon, y, statistics);
    y.as<float>()[y.elements() / 2] += 0.01F;
  }
  void rms_backward(const training::NormBackward& what) override { right_->rms_backward(what); }
  void layer_forward(training::View x, training::View gain, training::View bias, double epsilon,
                     training::View y, training::View statistics) override {
    right_->layer_forward(x, gain, bias, epsilon, y, statistics);
  }
  void layer_backward(const training::NormBackward& what) override { right_->layer_backward(what); }

 private:
  std::unique_ptr<NormKernels> right_;
};

class DamagedNormKernels final : public TrainingKernels {
 public:
  std::string name() const override { return "damaged"; }
  training::KernelSet make(Dtype dtype) override {
    training::KernelSet set = training::host_kernels(dtype);
    if (dtype == Dtype::f32) set.norm = std::make_unique<DamagedNorms>(std::move(set.norm));
    return set;
  }
};

struct OperatorsJob : ProbeJob {
  std::unique_ptr<Device> host = make_host_device(make_host_training_kernels);

  explicit OperatorsJob(Json params) : ProbeJob("operators", small(std::move(params))) {
    job.measure.max_time_s = 0.01;
    job.measure.warm_up_max_s = 0.01;
  }
  static Json small(Json params) {
    params.update({{"tokens", 24}, {"channels", {32}}, {"head_dim", 8}, {"vocabulary", 40}});
    if (!params.contains("sequences")) params["sequences"] = {12};
    if (!params.contains("threads")) params["threads"] = {1};
    return params;
  }
};

TEST_CASE("a probe of operators reports time, rate, traffic and memory next to its ceilings") {
  OperatorsJob job({{"operators", {"linear_out"}}, {"passes", {"forward"}}});
  job.job.limits = {
      {"throughput", {{"dtype", "f32"}, {"threads", 1}}, {1e9, LimitKind::measured, "gemm"}},
      {"traffic", {{"threads", 1}}, {1e12, LimitKind::measured, "memory"}}};
  REQUIRE(job.run_on(*job.host, *job.group).status == Status::ok);
  for (const char* metric : {"time", "throughput", "traffic", "memory"})
    CHECK(job.of(metric).size() == 1);
  const Samples time = job.of("time").at(0);
  CHECK(time.params.at("operator") == "linear_out");
  CHECK(time.params.at("pass") == "forward");
  REQUIRE(time.limit);
  CHECK(time.limit->value == Approx(2.0 * 24 * 32 * 32 / 1e9));
  REQUIRE(time.check);
  CHECK(time.check->passed());
}

TEST_CASE("an operator that computes wrongly makes its series invalid") {
  OperatorsJob job({{"operators", {"rms_norm"}}, {"passes", {"forward"}}});
  job.host = make_host_device([] { return std::make_shared<DamagedNormKernels>(); });
  CHECK(job.run_on(*job.host, *job.group).status == Status::invalid);
}

TEST_CASE("sizes that an operator cannot have skip its series with the reason") {
  OperatorsJob job({{"operators", {"attention", "rms_norm"}}, {"sequences", {7}}});
  job.run_on(*job.host, *job.group);
  const auto times = job.of("time");
  REQUIRE(times.size() == 3);
  CHECK(times[0].outcome == Status::skipped);
  CHECK(times[0].reason == "tokens 24 is not a multiple of sequence 7");
  CHECK(times[1].outcome == Status::ok);
}

TEST_CASE("an operator that a type does not have is skipped once for all sizes") {
  OperatorsJob job(
      {{"operators", {"attention_with_scores"}}, {"dtypes", {"bf16"}}, {"sequences", {12, 24}}});
  job.run_on(*job.host, *job.group);
  REQUIRE(job.of("time").size() == 1);
  CHECK(job.of("time")[0].reason == "no kernels of this operator in bf16");
}

TEST_CASE("an operator that does not depend on a size is measured once") {
  OperatorsJob job({{"operators", {"rms_norm"}}, {"passes", {"forward"}}, {"sequences", {12, 24}}});
  job.run_on(*job.host, *job.group);
  CHECK(job.of("time").size() == 1);
}

}  // namespace
}  // namespace bench

// The engine on device memory.
#include <cstring>

#include "tests/support/catch.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/fake_device.h"
#include "tests/training/gradient_check.h"
#include "tests/training/grpo_training.h"
#include "training/engine/replica.h"
#include "training/host/host_kernels.h"
#include "training/models/llm.h"
#include "training/workloads/dlrm.h"

namespace bench::training {
namespace {

using Catch::Matchers::Contains;

struct TrainedModel {
  std::vector<double> losses = {};
  std::vector<float> weights = {};
};

TrainedModel train_somewhere(const KernelFactory& kernels, Dtype dtype) {
  const Llm model = make_llm(llm_preset("tiny"), 2, dtype);
  const Plan plan = make_plan(*model.graph), evaluation = make_plan(*model.graph, false);
  Replica replica(plan, model.losses, kernels, make_adamw({}), {1, 2, 1});
  unsigned seed = 0;
  const auto fill = [&](const Lane& lane, int) {
    fill_ids(lane.view(model.tokens), 64, ++seed);
    fill_ids(lane.view(model.targets), 64, ++seed);
  };
  TrainedModel result;
  for (int i = 0; i < 3; ++i) result.losses.push_back(replica.step(fill, 3e-3).loss);
  Lane lane(evaluation, replica.weights(), kernels);
  fill(lane, 0);
  lane.forward({});
  result.losses.push_back(sum_of_losses(lane.view(model.losses)));
  const Weights here = replica.weights().on_host();
  const View all = here.all();
  result.weights.resize(static_cast<std::size_t>(all.elements()) * size_of(dtype) / sizeof(float));
  std::memcpy(result.weights.data(), all.data, sizeof(float) * result.weights.size());
  return result;
}

/// Two checks, an evaluation, and two micro-batches per step.
TrainerOptions little_dlrm_training() {
  TrainerOptions options = dlrm_training(12, 700);
  options.recipe.batch = 512;
  options.recipe.micro_batch = 256;
  options.lanes = 1;
  options.check_every = 5;
  return options;
}

double seconds_of(const TrainingRun& run, RunPhase phase) {
  for (const PhaseTime& time : run.breakdown)
    if (time.phase == phase) return time.mean.value;
  return -1.0;
}

std::int64_t bytes_of(const TrainingRun& run, const std::string& label) {
  for (const MemoryUse& use : run.memory)
    if (use.label == label) return use.bytes;
  return -1;
}

}  // namespace

TEST_CASE("a model trains bit for bit the same in memory the host cannot access") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    FakeDevice device;
    const TrainedModel there = train_somewhere([&](Dtype of) { return device.kernels(of); }, dtype);
    const TrainedModel here = train_somewhere([](Dtype of) { return host_kernels(of); }, dtype);
    CHECK(device.pieces == 3 * (2 * 2 + 1) + 1);  // a step is two micro-batches and an update
    CHECK(there.losses == here.losses);
    CHECK(std::memcmp(there.weights.data(), here.weights.data(), 4 * here.weights.size()) == 0);
  }
}

TEST_CASE("dlrm trains bit for bit the same in device memory with its tables on the host") {
  TrainerOptions options = little_dlrm_training();
  const TrainedDlrm here =
      train_dlrm_with([](Dtype dtype) { return host_kernels(dtype); }, options);
  for (const int threads : {1, 3}) {
    INFO(threads << " threads of the host");
    FakeDevice device;
    options.host_threads = threads;
    const TrainedDlrm there =
        train_dlrm_with([&](Dtype dtype) { return device.kernels(dtype); }, options);
    CHECK(device.pieces >= 12 * 2 * 2);
    CHECK(there.tables == here.tables);
    REQUIRE(there.run.steps.size() == 12);
    for (std::size_t step = 0; step < 12; ++step) {
      CHECK(there.run.steps[step].loss == here.run.steps[step].loss);
      CHECK(there.run.steps[step].gradient_norm == here.run.steps[step].gradient_norm);
    }
    CHECK(there.run.curve.back().gap == here.run.curve.back().gap);
    CHECK(there.run.parts == here.run.parts);
    REQUIRE(there.run.checks.size() == here.run.checks.size());
    for (const TrainingCheck& check : there.run.checks) CHECK(check.held);
    CHECK(seconds_of(there.run, RunPhase::transfer) > 0.0);
    CHECK(seconds_of(here.run, RunPhase::transfer) == 0.0);
    // A micro-batch's gradient of the embeddings, on its way to the tables.
    CHECK(bytes_of(there.run, "table_buffers") ==
          bytes_of(here.run, "table_buffers") + 256 * 12 * 16 * 4);
  }
}

TEST_CASE("a policy generates and learns bit for bit the same in device memory") {
  const TrainingRun here = train_grpo({.steps = 4, .lanes = 1});
  FakeDevice device;
  const TrainingRun there = train_grpo(
      {.steps = 4, .lanes = 1, .kernels = [&](Dtype dtype) { return device.kernels(dtype); }});
  REQUIRE(there.steps.size() == 4);
  for (std::size_t step = 0; step < 4; ++step) {
    CHECK(there.steps[step].loss == here.steps[step].loss);
    // A device adds up the squares of all blocks at once.
    CHECK(there.steps[step].gradient_norm == Approx(here.steps[step].gradient_norm).epsilon(1e-12));
  }
  CHECK(there.curve.back().gap == here.curve.back().gap);
  CHECK(there.parts == here.parts);
  for (const TrainingCheck& check : there.checks) CHECK(check.held);
}

TEST_CASE("tables refuse kernels for device memory") {
  FakeDevice device;
  const auto workload = make_dlrm_workload("tiny", 1);
  const auto alone = make_self_group();
  const KernelFactory there = [&](Dtype dtype) { return device.kernels(dtype); };
  TrainerOptions options = little_dlrm_training();
  CHECK_THROWS_WITH(Trainer(*workload, options, there, *alone), Contains("need host kernels"));
  options.host_kernels = there;
  CHECK_THROWS_WITH(Trainer(*workload, options, there, *alone), Contains("need host kernels"));
}

TEST_CASE("a device has one lane") {
  const Llm model = make_llm(llm_preset("tiny"), 1);
  const Plan plan = make_plan(*model.graph);
  FakeDevice device;
  CHECK_THROWS_WITH(Replica(plan, model.losses, [&](Dtype dtype) { return device.kernels(dtype); },
                            make_adamw({}), {2, 1, 1}),
                    Contains("2 lanes requested; a device"));
}

}  // namespace bench::training

// The engine on memory that is not the host's.
#include <cstring>

#include "probes/training/backends/host/host_kernels.h"
#include "probes/training/engine/replica.h"
#include "probes/training/models/llm.h"
#include "tests/support/catch.h"
#include "tests/training/fake_device.h"
#include "tests/training/gradient_check.h"

namespace bench::training {
namespace {

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

}  // namespace

TEST_CASE("a model trains the same, to the bit, in memory that the host cannot touch") {
  for (const Dtype dtype : {Dtype::f32, Dtype::bf16}) {
    FakeDevice device;
    const TrainedModel there = train_somewhere([&](Dtype of) { return device.kernels(of); }, dtype);
    const TrainedModel here = train_somewhere([](Dtype of) { return host_kernels(of); }, dtype);
    CHECK(device.pieces == 3 * (2 * 2 + 1) + 1);  // a step is two micro-batches and an update
    CHECK(there.losses == here.losses);
    CHECK(std::memcmp(there.weights.data(), here.weights.data(), 4 * here.weights.size()) == 0);
  }
}

TEST_CASE("a device has one lane") {
  const Llm model = make_llm(llm_preset("tiny"), 1);
  const Plan plan = make_plan(*model.graph);
  FakeDevice device;
  CHECK_THROWS_WITH(Replica(plan, model.losses, [&](Dtype dtype) { return device.kernels(dtype); },
                            make_adamw({}), {2, 1, 1}),
                    Catch::Matchers::Contains("2 lanes on a device"));
}

}  // namespace bench::training

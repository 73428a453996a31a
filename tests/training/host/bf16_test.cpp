// bf16 tensors on the host, the reference for a GPU.
#include <cmath>

#include "core/elements.h"
#include "tests/support/catch.h"
#include "tests/training/gradient_check.h"
#include "training/engine/replica.h"
#include "training/host/host_kernels.h"
#include "training/kernels/functors/portable.h"
#include "training/models/llm.h"
#include "training/operators/recommender.h"

namespace bench::training {
namespace {

/// Mean losses of llm tiny trained repeatedly on one batch.
std::vector<double> losses_in(Dtype dtype, int steps, double rate) {
  const Llm model = make_llm(llm_preset("tiny"), 2, dtype);
  const Plan plan = make_plan(*model.graph);
  Replica replica(plan, model.losses, [](Dtype d) { return host_kernels(d); }, make_adamw({}), {});
  const auto fill = [&](const Lane& lane, int) {
    fill_ids(lane.view(model.tokens), 64, 1);
    fill_ids(lane.view(model.targets), 64, 2);
  };
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) losses.push_back(replica.step(fill, rate).loss);
  return losses;
}

}  // namespace

TEST_CASE("an f32 rounds to the nearest bf16, ties to even") {
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const auto word = static_cast<std::uint32_t>(random_bits(1, i));
    float value = 0.0f;
    std::memcpy(&value, &word, sizeof value);
    if (std::isnan(value)) {
      CHECK(std::isnan(static_cast<float>(Bf16(value))));
    } else if (std::abs(value) < 3.3e38f) {  // encode() never makes an infinity of a finite number
      CHECK(static_cast<float>(Bf16(value)) ==
            static_cast<float>(rounded(static_cast<double>(value), Dtype::bf16)));
    }
  }
  CHECK(static_cast<float>(Bf16(1.00390625f)) == 1.0f);
  CHECK(static_cast<float>(Bf16(1.01171875f)) == 1.015625f);
}

TEST_CASE("a bf16 model trains like an f32 model within bf16 rounding") {
  const std::vector<double> wide = losses_in(Dtype::f32, 12, 3e-3);
  const std::vector<double> narrow = losses_in(Dtype::bf16, 12, 3e-3);
  CHECK(wide.back() < 0.7 * wide.front());
  for (std::size_t i = 0; i < wide.size(); ++i)
    CHECK(narrow[i] == Approx(wide[i]).epsilon(0.02).margin(0.02));
}

TEST_CASE("master weights keep updates smaller than the last bit of bf16") {
  // 2^-12 of a weight of 1, 64 times; each alone would be rounded away.
  std::vector<Bf16> parameter(1, Bf16(1.0f)), gradient(1, Bf16(1.0f));
  const auto optimizer = make_adamw({});
  optimizer->prepare(1, Dtype::bf16);
  CHECK(optimizer->state_bytes() == 3 * 4);
  const KernelSet kernels = host_kernels(Dtype::bf16);
  const UpdateRange range{
      0, false, {parameter.data(), 1, 1, Dtype::bf16}, {gradient.data(), 1, 1, Dtype::bf16}};
  for (int step = 1; step <= 64; ++step) {
    optimizer->begin_step({1.0 / 4096, 1.0, step});
    optimizer->update(kernels, range);
  }
  CHECK(static_cast<float>(parameter[0]) == Approx(1.0 - 64.0 / 4096).margin(1e-3));
}

TEST_CASE("click models in bf16 are refused by name") {
  Graph graph(Dtype::bf16);
  relu(graph.input("x", {2, 4}, Dtype::bf16));
  const Plan plan = make_plan(graph, false);
  const Weights weights(plan, 1);
  Lane lane(plan, weights, [](Dtype d) { return host_kernels(d); });
  CHECK_THROWS_WITH(lane.forward({}),
                    Catch::Matchers::Contains("recommender kernels are not available in bf16"));
}

TEST_CASE("statistics, constants and workspace of a bf16 model are f32") {
  const Llm model = make_llm(llm_preset("tiny"), 1, Dtype::bf16);
  const Plan plan = make_plan(*model.graph);
  for (const Tensor& tensor : model.graph->tensors()) {
    if (tensor.kind == Tensor::Kind::constant) CHECK(tensor.dtype == Dtype::f32);
    if (tensor.kind == Tensor::Kind::parameter) CHECK(tensor.dtype == Dtype::bf16);
  }
  int seen = 0;
  for (const Action& action : plan.actions) {
    for (const Slot& slot : action.saved) CHECK(slot.dtype == Dtype::f32);
    if (action.workspace.buffer >= 0) CHECK(action.workspace.dtype == Dtype::f32);
    seen += static_cast<int>(action.saved.size());
  }
  CHECK(seen > 0);
}

}  // namespace bench::training

// Both shapes of language model against finite differences, and faults that they find.
#include "tests/support/catch.h"
#include "tests/training/faulty_kernels.h"
#include "tests/training/gradient_check.h"
#include "training/host/host_kernels.h"
#include "training/models/llm.h"

namespace bench::training {
namespace {

LlmShape little_llm(bool gpt2) {
  LlmShape shape{2, 16, 24, 4, gpt2 ? 4 : 2, 9, 13};
  shape.gpt2 = shape.tied_head = gpt2;
  shape.shifted_kv_heads = gpt2 ? 0 : 1;
  return shape;
}

GradientError check_llm(const LlmShape& shape, const KernelFactory& kernels,
                        bool recompute = false) {
  Llm model = make_llm(shape, 3, Dtype::f64, recompute);
  const auto fill = [&](const Lane& lane) {
    fill_ids(lane.view(model.tokens), static_cast<int>(shape.vocabulary), 1);
    fill_ids(lane.view(model.targets), static_cast<int>(shape.vocabulary), 2);
  };
  return check_gradients(*model.graph, model.losses, fill, kernels);
}

KernelSet checked_kernels(Dtype dtype) { return host_kernels(dtype); }

}  // namespace

TEST_CASE("the gradient of the Llama architecture is correct, also with recomputation") {
  CHECK(check_llm(little_llm(false), checked_kernels).worst < 1e-6);
  CHECK(check_llm(little_llm(false), checked_kernels, true).worst < 1e-6);
}

TEST_CASE("the gradient of the GPT-2 architecture is correct, also with recomputation") {
  CHECK(check_llm(little_llm(true), checked_kernels).worst < 1e-6);
  CHECK(check_llm(little_llm(true), checked_kernels, true).worst < 1e-6);
}

TEST_CASE("finite differences find known faults of a backward pass") {
  for (const Fault& fault : llama_faults()) {
    INFO(fault.name);
    const GradientError error = check_llm(little_llm(false), [&](Dtype dtype) {
      KernelSet set = host_kernels(dtype);
      fault.inject(set);
      return set;
    });
    CHECK(error.worst > 1e-3);
  }
}

TEST_CASE("models have the published number of parameters") {
  const auto count = [](const char* preset) {
    return make_llm(llm_preset(preset), 1).graph->parameter_count();
  };
  CHECK(count("gpt2") == 124'439'808);
  CHECK(count("1b") == 1'235'814'400);
  CHECK(count("standard") == 8'030'261'248);
  CHECK(count("tiny") == 2 * (64 * 192 + 64 * 64 + 3 * 64 * 256 + 2 * 64) + 2 * 64 * 64 + 64);
}

TEST_CASE("FLOPs of a token are six times the weights and the causal half of attention") {
  CHECK(llm_flops_per_token(llm_preset("gpt2")) == Approx(6.0 * 123.53e6 + 56.6e6).epsilon(1e-3));
  CHECK(llm_flops_per_token(llm_preset("1b")) == Approx(8.22e9).epsilon(1e-3));
}

TEST_CASE("an unknown preset is refused, listing the known ones") {
  CHECK_THROWS_WITH(llm_preset("huge"), Catch::Contains("huge"));
}

}  // namespace bench::training

#include "tests/training/policy_cases.h"

#include <string>

namespace bench::training {
namespace {

KernelCase policy_losses(Dtype dtype, std::int64_t n, double scale) {
  return {"policy loss of " + std::to_string(n) + (scale > 0 ? ", trained" : ""),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const View logits = tensors.result(tensors.values(23, n, dtype));
            const View targets = tensors.ids(23, n);
            // Advantages of both signs; sampled and reference log-probabilities near -1.
            const View terms = tensors.values(23, kPolicyTerms, Dtype::f32, 0.7);
            const View losses = tensors.result(tensors.values(23, 1, Dtype::f64));
            set.policy->loss({logits, targets, terms, 0.2, scale, losses});
          }};
}

KernelCase decoding(Dtype dtype, const AttentionShape& shape, std::int64_t position) {
  return {"decoding of " + std::to_string(shape.heads) + " heads at " + std::to_string(position),
          [=](const KernelSet& set, CaseTensors& tensors) {
            constexpr std::int64_t kPrompts = 3, kCopies = 2;
            const View prompts = tensors.values(kPrompts * position, shape.packed_columns(), dtype);
            const View cache = tensors.result(tensors.values(
                kPrompts * kCopies * shape.sequence, 2 * shape.kv_heads * shape.head_dim, dtype));
            const View one = tensors.values(kPrompts * kCopies, shape.packed_columns(), dtype);
            const View output =
                tensors.result(tensors.values(kPrompts * kCopies, shape.output_columns(), dtype));
            set.policy->store(shape, prompts, kPrompts, 0, cache);
            set.policy->store(shape, one, kPrompts * kCopies, position, cache);
            set.policy->attend(shape, one, position, cache, output);
          }};
}

KernelCase choices(Dtype dtype, std::int64_t n, double temperature) {
  return {"choice among " + std::to_string(n) + " at temperature " + std::to_string(temperature),
          [=](const KernelSet& set, CaseTensors& tensors) {
            const View logits = tensors.values(50, n, dtype, 2.0);
            const View chances = tensors.constant(50, 1, Dtype::f32, 0.618);
            const View tokens = tensors.result(tensors.ids(50, n));
            const View log_probabilities = tensors.result(tensors.values(50, 1, Dtype::f32));
            set.policy->choose(logits, chances, temperature, tokens, log_probabilities);
          }};
}

}  // namespace

std::vector<KernelCase> policy_cases(Dtype dtype) {
  std::vector<KernelCase> cases;
  for (const std::int64_t n : {13, 256}) {
    for (const double scale : {0.0, 1.0 / 64}) cases.push_back(policy_losses(dtype, n, scale));
    for (const double temperature : {0.0, 1.0, 0.6})
      cases.push_back(choices(dtype, n, temperature));
  }
  AttentionShape grouped{11, 4, 2, 20};
  grouped.shifted_kv_heads = 1;
  for (const std::int64_t position : {1, 10}) cases.push_back(decoding(dtype, grouped, position));
  cases.push_back(decoding(dtype, {40, 2, 2, 64}, 33));
  return cases;
}

}  // namespace bench::training

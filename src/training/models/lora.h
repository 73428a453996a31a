// Low-rank adaptation (LoRA, arXiv 2106.09685) of a language model: its parameters are frozen, and
// to each of the two projections of every attention layer is added
//
//   y = x W + (alpha / rank) (x A) B,   A [in, rank], B [rank, out]
//
// Only A and B are trained. MLPerf's llama2_70b_lora adapts the same projections.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "training/models/llm.h"

namespace bench::training {

struct LoraShape {
  LlmShape base = {};  // a Llama architecture
  std::int64_t rank = 0;
  /// alpha / rank is applied by doubling x A, so it must be a power of two, 1 included.
  std::int64_t alpha = 0;
};

/// "tiny", "small", "standard": the presets of these names in llm.h; "70b": Llama 2 70B's shape.
/// Throws Error(input) for another name, listing these.
LoraShape lora_preset(std::string_view name);
std::vector<std::string> lora_presets();

/// The graph of one micro-batch of `sequences`. A parameter of the base has the name it has in
/// make_llm(), its adapters are "<name>.lora_a" and "<name>.lora_b". A is normal with variance
/// 1/in, B is zero, so that the first forward pass is the base's. Frozen parameters start as in
/// pretraining, but the head at random: a model without a base still has gradients. Throws
/// Error(internal) for GPT-2's architecture, a rank below 1, or another alpha.
Llm make_lora(const LoraShape& shape, std::int64_t sequences, Dtype dtype = Dtype::f32,
              bool recompute = false);

/// Forward and backward: about 4 x the weights of all frozen GEMMs, which need no gradient of their
/// own, 6 x those of the adapters, and 6 layers T d of causal attention. Exactly, the input
/// gradients in front of the first adapter are not needed either and not counted.
double lora_flops_per_token(const LoraShape& shape);

}  // namespace bench::training

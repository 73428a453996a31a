// Language models for pretraining: the Llama block (RMSNorm, RoPE, GQA, SwiGLU) and GPT-2's shape
// (LayerNorm, GELU, learned positions, biases, tied head).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/graph.h"
#include "training/models/llama.h"

namespace bench::training {

struct LlmShape {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t hidden = 0;  // of the feed-forward part
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t sequence = 0;
  std::int64_t vocabulary = 0;
  bool gpt2 = false;
  bool tied_head = false;
  std::int64_t shifted_kv_heads = 0;  // AttentionShape
  double rope_theta = 1e4;

  AttentionShape attention() const;
};

/// "tiny", "deep" (tiny's blocks, four times as many, for pipelines), "small", "gpt2" (124M), "1b"
/// (Llama-3.2-1B's shape), "standard" (Llama-3.1-8B's). Throws Error(input) for another name,
/// listing these.
LlmShape llm_preset(std::string_view name);
std::vector<std::string> llm_presets();

struct Llm {
  std::unique_ptr<Graph> graph;
  Var tokens;               // int32 [sequences x sequence, 1]; see make_llm() for cp
  Var targets;              // the same; negative ones are ignored
  Var losses;               // f64 [sequences x sequence, 1], nats; Model::losses
  StageTensors stage = {};  // [sequences x sequence, width]
};

/// The graph of one micro-batch of `sequences`. With `recompute` each block's inside is recomputed
/// in the backward pass. `part`: with tensor ranks, the heads, the hidden columns and the
/// vocabulary are divided; with context ranks, rows are part.context.tokens(sequence) of each
/// sequence. Throws Error(input) for a part that the shape does not allow.
Llm make_llm(const LlmShape& shape, std::int64_t sequences, Dtype dtype = Dtype::f32,
             bool recompute = false, const LlmChanges& changes = {}, const ModelPart& part = {});

/// Writes the values of the parameter `name` of make_llm(), row-major.
using LlmValues = std::function<void(const std::string& name, std::span<float> values)>;

/// The same model with the loss of a policy gradient; its parameters are those of make_llm().
struct LlmPolicy {
  std::unique_ptr<Graph> graph;
  Var tokens;   // int32 [sequences x sequence, 1]
  Var targets;  // the same; negative ones are ignored
  Var terms;    // f32 [sequences x sequence, kPolicyTerms]
  Var losses;   // f64 [sequences x sequence, 1]
};

/// `clip`: of PolicyLoss; the rest as for make_llm().
LlmPolicy make_llm_policy(const LlmShape& shape, std::int64_t sequences, double clip,
                          Dtype dtype = Dtype::f32, bool recompute = false);

/// Forward and backward: 6 x the weights of all GEMMs, and 6 layers T d of causal attention (MFU's
/// convention in PaLM, arXiv 2204.02311, with the causal half).
double llm_flops_per_token(const LlmShape& shape);

}  // namespace bench::training

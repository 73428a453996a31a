// Mixture-of-experts language models for pretraining: the Llama block (RMSNorm, RoPE, GQA) whose
// feed-forward part is a router and several SwiGLU experts, of which each token uses a few, and
// optionally one that all tokens use, as in DeepSeek-V3.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/graph.h"
#include "training/engine/model_part.h"
#include "training/kernels/expert_kernels.h"

namespace bench::training {

struct MoeShape {
  std::int64_t layers = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t experts = 0;
  std::int64_t top = 0;     // experts of a token
  std::int64_t hidden = 0;  // of each expert
  std::int64_t sequence = 0;
  std::int64_t vocabulary = 0;
  std::int64_t shared_hidden = 0;     // of the expert that all tokens use; 0: none
  std::int64_t shifted_kv_heads = 0;  // AttentionShape
  double rope_theta = 1e4;
  double balance = 0.0;  // weight of the balance loss
  /// Most tokens of a sequence per expert, relative to equal loads (capacity factor of GShard,
  /// arXiv 2006.16668); 0: all (dropless).
  double capacity_factor = 0.0;

  AttentionShape attention() const;
  Routing routing() const;
};

/// "tiny", "tiny_dense" (one network as large as the experts that a token of tiny uses), "small",
/// "standard" (DeepSeekMoE-16B's shape, arXiv 2401.06066), "gpt_oss_20b". Throws Error(input) for
/// another name, listing these.
MoeShape moe_preset(std::string_view name);
std::vector<std::string> moe_presets();

struct Moe {
  std::unique_ptr<Graph> graph;
  Var tokens;                     // int32 [sequences x sequence, 1]
  Var targets;                    // the same; negative ones are ignored
  Var losses;                     // f64 [sequences x sequence, 1], nats, without the balance loss
  std::vector<Var> routing = {};  // routing_statistics() by layer; none with a single expert
};

/// The graph of one micro-batch of `sequences`. With `recompute` each block's inside is recomputed
/// in the backward pass. A part may have some of the experts of each layer and all of the rest;
/// throws Error(input) for another part, and for ranks that do not divide the experts.
Moe make_moe(const MoeShape& shape, std::int64_t sequences, Dtype dtype = Dtype::f32,
             bool recompute = false, const ModelPart& part = {});

/// Forward and backward, as llm_flops_per_token(), of active parameters: the experts that a token
/// uses, routers, attention and head.
double moe_flops_per_token(const MoeShape& shape);
/// Parameters of GEMMs that a token uses: a sixth of its FLOPs without attention.
std::int64_t moe_active_parameters(const MoeShape& shape);

}  // namespace bench::training

#include "training/models/moe.h"

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/names.h"
#include "training/models/llama.h"
#include "training/operators/expert_parallel.h"
#include "training/operators/experts.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// layers, width, heads, kv heads, head dim, experts, top, hidden, sequence, vocabulary, shared
/// hidden, shifted heads, theta, balance.
const NameTable<MoeShape, 5> kMoePresets{{{
    {{2, 64, 4, 4, 16, 8, 2, 16, 64, 72, 0, 2, 1e3, 1e-2}, "tiny"},
    {{2, 64, 4, 4, 16, 1, 1, 32, 64, 72, 0, 2, 1e3, 0.0}, "tiny_dense"},
    {{12, 768, 12, 4, 64, 8, 2, 1024, 1024, 32768, 0, 2, 1e4, 1e-2}, "small"},
    {{28, 2048, 16, 16, 128, 64, 6, 1408, 4096, 102400, 2816, 0, 1e4, 1e-3}, "standard"},
    {{24, 2880, 64, 8, 64, 32, 4, 2880, 8192, 201088, 0, 0, 1.5e5, 1e-2}, "gpt_oss_20b"},
}}};

Var routed_experts(Var h, LlamaParameters& p, const MoeShape& shape, const std::string& at,
                   std::vector<Var>& statistics) {
  const std::int64_t d = shape.width, n = shape.hidden;
  Var logits = linear(h, p.matrix(at + "router", {d, shape.experts}));
  statistics.push_back(routing_statistics(logits, shape.routing()));
  Var gates = route(logits, shape.routing(), shape.balance);
  const Var up = p.experts_matrix(at + "experts.w_gate_up", {shape.experts, d, 2 * n}, false);
  const Var down = p.experts_matrix(at + "experts.w_down", {shape.experts, n, d}, true);
  const int ranks = p.part().expert_ranks;
  return ranks > 1 ? divided_experts(h, gates, up, down, shape.routing(), ranks)
                   : experts(h, gates, up, down, shape.top);
}

void check_part(const MoeShape& shape, const ModelPart& part) {
  const int ranks = part.expert_ranks;
  if (part.tensor_ranks > 1 || part.stages > 1 || part.shards > 1 || !part.context.is_whole())
    throw Error(ErrorKind::input, "a mixture of experts can be divided by ep only",
                "remove tp, cp, pp and zero above 1");
  if (ranks > 1 && (shape.experts == 1 || shape.experts % ranks != 0))
    throw Error(
        ErrorKind::input,
        std::to_string(shape.experts) + " experts cannot be divided by ep " + std::to_string(ranks),
        shape.experts == 1 ? "use a preset with several experts"
                           : "use an ep that divides " + std::to_string(shape.experts));
}

/// Without a router if there is one expert.
Var feed_forward_part(Var x, LlamaParameters& p, const MoeShape& shape, const std::string& at,
                      std::vector<Var>& statistics) {
  Var h = rms_norm(x, p.gain(at + "norm2"));
  x = add(x, shape.experts > 1 ? routed_experts(h, p, shape, at, statistics)
                               : llama_feed_forward(h, p, at, shape.hidden));
  if (shape.shared_hidden == 0) return x;
  return add(x, llama_feed_forward(h, p, at + "shared.", shape.shared_hidden));
}

}  // namespace

std::vector<std::string> moe_presets() {
  std::vector<std::string> names;
  for (const auto& [shape, name] : kMoePresets.entries) names.emplace_back(name);
  return names;
}

MoeShape moe_preset(std::string_view name) { return kMoePresets.value(name, "moe preset"); }

AttentionShape MoeShape::attention() const {
  return {sequence, heads, kv_heads, head_dim, true, shifted_kv_heads};
}

Routing MoeShape::routing() const {
  Routing routing{sequence, experts, top};
  const double equal = static_cast<double>(sequence * top) / static_cast<double>(experts);
  routing.capacity = static_cast<std::int64_t>(std::ceil(capacity_factor * equal));
  return routing;
}

Moe make_moe(const MoeShape& shape, std::int64_t sequences, Dtype dtype, bool recompute,
             const ModelPart& part) {
  check_part(shape, part);
  Moe model{std::make_unique<Graph>(dtype), {}, {}, {}};
  Graph& graph = *model.graph;
  LlamaParameters p(graph, shape.width, shape.layers, {}, part);
  const std::int64_t rows = sequences * shape.sequence;
  model.tokens = graph.input("tokens", {rows, 1}, Dtype::int32);
  model.targets = graph.input("targets", {rows, 1}, Dtype::int32);

  Var x = embedding(model.tokens, p.parameter("embedding", {shape.vocabulary, shape.width},
                                              {Initial::normal(0.5)}));
  Var angles = rope_angles(graph, shape.attention(), shape.rope_theta);
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const std::string at = "layer" + std::to_string(layer) + ".";
    if (recompute) graph.begin_recompute();
    x = llama_attention(x, p, shape.attention(), at, angles);
    x = feed_forward_part(x, p, shape, at, model.routing);
    if (recompute) graph.end_recompute();
  }
  Var head = p.head("head", shape.vocabulary);
  model.losses = cross_entropy(linear(rms_norm(x, p.gain("norm")), head), model.targets);
  return model;
}

double moe_flops_per_token(const MoeShape& shape) {
  return 3.0 * make_moe(shape, 1).graph->forward_flops() / static_cast<double>(shape.sequence);
}

std::int64_t moe_active_parameters(const MoeShape& shape) {
  const AttentionShape heads = shape.attention();
  const std::int64_t attention = heads.packed_columns() + heads.output_columns();
  const std::int64_t router = shape.experts > 1 ? shape.experts : 0;
  const std::int64_t networks = 3 * (shape.top * shape.hidden + shape.shared_hidden);
  return shape.width * (shape.layers * (attention + router + networks) + shape.vocabulary);
}

}  // namespace bench::training

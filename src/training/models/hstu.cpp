#include "training/models/hstu.h"

#include "core/names.h"
#include "training/models/llama.h"
#include "training/operators/diffusion.h"
#include "training/operators/hstu.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// layers, width, heads, columns of a head, events, items, columns of the table, groups, buckets.
const NameTable<HstuShape, 4> kHstuPresets{{{
    {{2, 32, 2, 16, 32, 256, 32, 8, 12}, "tiny"},
    {{4, 256, 4, 64, 256, 16'384, 64, 64, 16}, "small"},
    {{8, 512, 8, 64, 1024, 131'072, 128, 512, 20}, "standard"},
    {{3, 512, 4, 128, 4096, 1'000'000, 512, 512, 20}, "dlrm_v4"},
}}};

class HstuParameters : public LlamaParameters {
 public:
  HstuParameters(Graph& graph, const HstuShape& shape)
      : LlamaParameters(graph, shape.width, shape.layers) {}

  Var table(const std::string& name, std::int64_t rows, std::int64_t columns, double deviation) {
    return parameter(name, {rows, columns}, {Initial::normal(deviation)});
  }
  Var bias(const std::string& name, std::int64_t out) {
    return parameter(name + ".bias", {1, out}, {Initial::constant(0.0), false});
  }
  Var linear_of(Var x, const std::string& name, std::int64_t out) {
    return linear(x, matrix(name, {x.shape().columns(), out}), {bias(name, out)});
  }
  Var norm(Var x, const std::string& name) {
    const std::int64_t n = x.shape().columns();
    return layer_norm(x, parameter(name, {1, n}, {Initial::constant(1.0), false}), bias(name, n));
  }
};

/// The item shown, the user's group, and the event before: its item, multiplied by what its action
/// means.
Var embedded_events(const Hstu& model, HstuParameters& p, const HstuShape& shape) {
  const Var table = p.table("items", shape.items, shape.columns, 0.5);
  const Var shown = p.linear_of(embedding(model.items, table), "shown", shape.width);
  const Var user = embedding(model.groups, p.table("groups", shape.groups, shape.width, 0.5));
  const Var before =
      linear(embedding(model.previous, table), p.matrix("before", {shape.columns, shape.width}));
  const Var action = embedding(model.actions, p.table("actions", kNoAction + 1, shape.width, 1.0));
  return gated_add(add(user, shown), before, action);
}

Var hstu_layer(Var x, const Hstu& model, HstuParameters& p, const HstuShape& shape,
               const std::string& at) {
  const HstuAttentionShape heads = shape.attention();
  const Var packed = silu(p.linear_of(p.norm(x, at + "norm"), at + "uvqk", heads.packed_columns()));
  const auto biases = [&](const std::string& name, std::int64_t count) {
    return p.parameter(at + name, {shape.heads, count}, {Initial::constant(0.0), false});
  };
  const Var attended =
      hstu_attention({packed, model.lengths, model.times, biases("position_bias", shape.events),
                      biases("time_bias", shape.buckets)},
                     heads);
  const Var y = hstu_gate(p.norm(attended, at + "attended"), packed);
  return linear(y, p.matrix_into_residual(at + "out", {heads.width(), shape.width}),
                {p.bias(at + "out", shape.width), x});
}

}  // namespace

std::vector<std::string> hstu_presets() {
  std::vector<std::string> names;
  for (const auto& [shape, name] : kHstuPresets.entries) names.emplace_back(name);
  return names;
}

HstuShape hstu_preset(std::string_view name) { return kHstuPresets.value(name, "hstu preset"); }

Hstu make_hstu(const HstuShape& shape, std::int64_t samples, Dtype dtype, bool recompute) {
  Hstu model{std::make_unique<Graph>(dtype), {}, {}, {}, {}, {}, {}, {}, {}, {}};
  Graph& graph = *model.graph;
  const auto input = [&](const char* name, std::int64_t rows) {
    return graph.input(name, {rows, 1}, Dtype::int32);
  };
  const std::int64_t rows = samples * shape.events;
  model.lengths = input("lengths", samples);
  model.items = input("items", rows);
  model.previous = input("previous", rows);
  model.actions = input("actions", rows);
  model.groups = input("groups", rows);
  model.times = input("times", rows);
  model.labels = input("labels", rows);

  HstuParameters p(graph, shape);
  Var x = embedded_events(model, p, shape);
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    if (recompute) graph.begin_recompute();
    x = hstu_layer(x, model, p, shape, "layer" + std::to_string(layer) + ".");
    if (recompute) graph.end_recompute();
  }
  const Var h = silu(p.linear_of(p.norm(x, "norm"), "hidden", shape.width));
  // Not zero: gradients of everything before it would stay below AdamW's epsilon in the first
  // steps.
  model.logits = linear(h, p.table("head", shape.width, 1, 0.02), {p.bias("head", 1)});
  model.losses = event_losses(model.logits, model.labels);
  return model;
}

double hstu_flops_per_sample(const HstuShape& shape) {
  return 3.0 * make_hstu(shape, 1).graph->forward_flops();
}

}  // namespace bench::training

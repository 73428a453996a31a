#include "training/models/rgat.h"

#include <array>
#include <cmath>
#include <map>

#include "core/names.h"
#include "training/operators/classifier.h"
#include "training/operators/linear.h"
#include "training/operators/neighbours.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

struct RgatSizes {
  std::int64_t hidden, heads, classes, columns;
  std::array<std::int64_t, 3> fan_outs;  // 0: no such layer
};

const NameTable<RgatSizes, 4> kRgatPresets{{{
    {{32, 2, 4, 8, {4, 3, 0}}, "tiny"},
    {{128, 4, 64, 128, {10, 5, 0}}, "small"},
    {{256, 4, 256, 256, {10, 10, 5}}, "standard"},
    {{512, 4, 2983, 1024, {15, 10, 5}}, "igbh"},
}}};

/// The parameters of one layer, made at their first use, and what they compute.
class RgatLayer {
 public:
  RgatLayer(Graph& graph, const RgatShape& shape, std::string at)
      : graph_(graph), shape_(shape), at_(std::move(at)) {}

  /// relu(x W + b) is what a node without neighbours gets; the ReLU is left to the sum.
  Var own(Var x, NodeType type) {
    const std::string name = at_ + std::string(name_of(type));
    return linear(x, matrix(name, x, shape_.hidden),
                  {once(name + ".bias", {1, shape_.hidden}, Initial::constant(0.0), false)});
  }
  Var from_neighbours(Var x, Var neighbours, const Relation& relation) {
    const std::string name = at_ + std::string(relation.name);
    const NeighbourShape heads{neighbours.shape().rows() / x.shape().rows(), shape_.heads,
                               shape_.hidden / shape_.heads};
    const Var values = linear(neighbours, matrix(name + ".values", neighbours, shape_.hidden));
    const Var own = linear(x, matrix(name + ".own", x, shape_.heads));
    const double deviation = 1.0 / std::sqrt(static_cast<double>(heads.head_dim));
    const Var vector = once(name + ".vector", {1, heads.width()}, Initial::normal(deviation), true);
    return neighbour_attention(values, own, vector, heads);
  }

 private:
  Var once(const std::string& name, const Shape& shape, const Initial& initial, bool decay) {
    const auto [at, is_new] = made_.try_emplace(name);
    if (is_new) at->second = graph_.parameter(name, shape, {initial, decay});
    return at->second;
  }
  Var matrix(const std::string& name, Var x, std::int64_t out) {
    const std::int64_t in = x.shape().columns();
    return once(name, {in, out}, Initial::normal(1.0 / std::sqrt(static_cast<double>(in))), true);
  }

  Graph& graph_;
  const RgatShape& shape_;
  std::string at_;
  std::map<std::string, Var> made_ = {};
};

/// Of the groups at most `depth` from the paper; x of all at most one deeper.
std::vector<Var> layer_of(const std::vector<Var>& x, const std::vector<NodeGroup>& groups,
                          int depth, RgatLayer& layer) {
  std::vector<Var> y, sums(groups.size());
  for (std::size_t child = 1; child < groups.size() && groups[child].depth <= depth + 1; ++child) {
    const auto parent = static_cast<std::size_t>(groups[child].parent);
    const Var sent =
        layer.from_neighbours(x[parent], x[child], kRelations.at(groups[child].relation));
    sums[parent] = sums[parent] ? add(sums[parent], sent) : sent;
  }
  for (std::size_t group = 0; group < groups.size() && groups[group].depth <= depth; ++group)
    y.push_back(add_relu(layer.own(x[group], groups[group].type), sums[group]));
  return y;
}

}  // namespace

std::vector<std::string> rgat_presets() {
  std::vector<std::string> names;
  for (const auto& [sizes, name] : kRgatPresets.entries) names.emplace_back(name);
  return names;
}

RgatShape rgat_preset(std::string_view name) {
  const RgatSizes sizes = kRgatPresets.value(name, "rgat preset");
  RgatShape shape{{{}, sizes.classes, sizes.columns}, sizes.hidden, sizes.heads};
  for (const std::int64_t fan_out : sizes.fan_outs)
    if (fan_out > 0) shape.samples.fan_outs.push_back(fan_out);
  return shape;
}

Rgat make_rgat(const RgatShape& shape, std::int64_t samples, Dtype dtype, bool recompute) {
  require(shape.heads > 0 && shape.hidden % shape.heads == 0, "rgat",
          std::to_string(shape.hidden) + " columns for " + std::to_string(shape.heads) + " heads");
  Rgat model{std::make_unique<Graph>(dtype), {}, {}, {}, {}};
  Graph& graph = *model.graph;
  const std::vector<NodeGroup> groups = node_groups(shape.samples.fan_outs);
  for (const NodeGroup& group : groups)
    model.features.push_back(
        graph.input(group.name, {samples * group.nodes, shape.samples.columns}, dtype));
  model.labels = graph.input("labels", {samples, 1}, Dtype::int32);

  std::vector<Var> x = model.features;
  const auto layers = static_cast<int>(shape.samples.fan_outs.size());
  for (int layer = 0; layer < layers; ++layer) {
    RgatLayer of(graph, shape, "layer" + std::to_string(layer) + ".");
    if (recompute) graph.begin_recompute();
    x = layer_of(x, groups, layers - 1 - layer, of);
    if (recompute) graph.end_recompute();
  }
  // Not zero: gradients of everything before it would stay below AdamW's epsilon in the first
  // steps.
  const Var head =
      graph.parameter("head", {shape.hidden, shape.samples.classes}, {Initial::normal(0.02)});
  const Var bias =
      graph.parameter("head.bias", {1, shape.samples.classes}, {Initial::constant(0.0), false});
  model.logits = linear(x[0], head, {bias});
  model.losses = cross_entropy(model.logits, model.labels);
  return model;
}

double rgat_flops_per_sample(const RgatShape& shape) {
  return make_rgat(shape, 1).graph->training_flops();
}

}  // namespace bench::training

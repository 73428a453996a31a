#include "training/models/dlrm.h"

#include <cmath>
#include <string>

#include "core/names.h"
#include "training/models/layers.h"
#include "training/operators/linear.h"
#include "training/operators/recommender.h"

namespace bench::training {
namespace {

/// dense, tables, width, bottom, top, cross layers, their rank.
const NameTable<DlrmShape, 3> kDlrmPresets{{{
    {{13, 12, 16, {64}, {64, 32}, 0, 0}, "tiny"},
    {{13, 26, 64, {512, 256}, {512, 512, 256}, 3, 128}, "small"},
    {{13, 26, 128, {512, 256}, {1024, 1024, 512, 256}, 3, 512}, "standard"},
}}};

/// x0 * (W (V x) + b) + x.
Var cross_layer(Var x0, Var x, const std::string& name, std::int64_t rank) {
  Graph& graph = *x0.graph;
  const std::int64_t width = x0.shape().columns();
  const Initial initial = Initial::normal(1.0 / std::sqrt(static_cast<double>(width)));
  const Var v = graph.parameter(name + ".v", {width, rank}, {initial});
  return cross(x0, layer(linear(x, v), name + ".w", width, 1.0), x);
}

Var interaction(Var dense, Var embeddings, const DlrmShape& shape) {
  if (shape.cross_layers == 0) return dot_interaction(dense, embeddings);
  const Var x0 = concat_columns(dense, embeddings);
  Var x = x0;
  for (std::int64_t i = 0; i < shape.cross_layers; ++i)
    x = cross_layer(x0, x, "cross" + std::to_string(i), shape.cross_rank);
  return x;
}

}  // namespace

std::vector<std::string> dlrm_presets() {
  std::vector<std::string> names;
  for (const auto& [shape, name] : kDlrmPresets.entries) names.emplace_back(name);
  return names;
}

DlrmShape dlrm_preset(std::string_view name) { return kDlrmPresets.value(name, "dlrm preset"); }

Dlrm make_dlrm(const DlrmShape& shape, std::int64_t samples, Dtype dtype) {
  Dlrm model{std::make_unique<Graph>(dtype), {}, {}, {}, {}, {}};
  Graph& graph = *model.graph;
  model.dense = graph.input("dense", {samples, shape.dense}, dtype);
  model.embeddings = graph.input_with_gradient("embeddings", {samples, shape.tables * shape.width});
  model.labels = graph.input("labels", {samples, 1}, dtype);

  std::vector<std::int64_t> bottom = shape.bottom;
  bottom.push_back(shape.width);
  const Var dense = rectified_layers(model.dense, "bottom", bottom);
  const Var features = interaction(dense, model.embeddings, shape);
  model.logits = layer(rectified_layers(features, "top", shape.top), "head", 1, 1.0);
  model.losses = binary_cross_entropy(model.logits, model.labels);
  return model;
}

double dlrm_flops_per_sample(const DlrmShape& shape) {
  return 3.0 * make_dlrm(shape, 1).graph->forward_flops();
}

}  // namespace bench::training

#include "training/models/two_tower.h"

#include "core/names.h"
#include "training/models/layers.h"
#include "training/operators/recommender.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// user tables, item tables, width, layers of users, of items, output.
const NameTable<TwoTowerShape, 3> kTwoTowerPresets{{{
    {{4, 2, 16, {64}, {64}, 16}, "tiny"},
    {{6, 2, 64, {512, 256}, {256}, 64}, "small"},
    {{8, 2, 128, {1024, 512}, {512}, 128}, "standard"},
}}};

Var tower(Var features, const std::string& name, const std::vector<std::int64_t>& hidden,
          std::int64_t output) {
  return layer(rectified_layers(features, name, hidden), name + ".head", output, 1.0);
}

}  // namespace

std::vector<std::string> two_tower_presets() {
  std::vector<std::string> names;
  for (const auto& [shape, name] : kTwoTowerPresets.entries) names.emplace_back(name);
  return names;
}

TwoTowerShape two_tower_preset(std::string_view name) {
  return kTwoTowerPresets.value(name, "two_tower preset");
}

TwoTower make_two_tower(const TwoTowerShape& shape, std::int64_t samples, Dtype dtype) {
  TwoTower model{std::make_unique<Graph>(dtype), {}, {}, {}, {}, {}};
  Graph& graph = *model.graph;
  const std::int64_t of_user = shape.user_tables * shape.width;
  const std::int64_t of_item = shape.item_tables * shape.width;
  model.embeddings = graph.input_with_gradient("embeddings", {samples, of_user + of_item});
  model.corrections = graph.input("corrections", {samples, 1}, dtype);
  model.targets = graph.input("targets", {samples, 1}, Dtype::int32);

  const Var user =
      tower(columns_of(model.embeddings, 0, of_user), "user", shape.user_hidden, shape.output);
  const Var item = tower(columns_of(model.embeddings, of_user, of_item), "item", shape.item_hidden,
                         shape.output);
  model.vectors = concat_columns(user, item);  // has no reader, so it is kept for the evaluation
  model.losses = cross_entropy(row_products(user, item, model.corrections), model.targets);
  return model;
}

double two_tower_flops_per_sample(const TwoTowerShape& shape, std::int64_t samples) {
  return 3.0 * make_two_tower(shape, samples).graph->forward_flops() / static_cast<double>(samples);
}

}  // namespace bench::training

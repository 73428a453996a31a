// Two-tower retrieval, trained as by Yi et al. (RecSys 2019): a tower of layers maps the features
// of a user to a vector, another those of an item, and the score of an item for a user is the inner
// product. The embedding tables are outside the graph (tables/sparse_tables.h); the rows looked up
// in them are an input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/graph.h"

namespace bench::training {

struct TwoTowerShape {
  int user_tables = 0;
  int item_tables = 0;
  std::int64_t width = 0;                      // of a table row
  std::vector<std::int64_t> user_hidden = {};  // layers of each tower, without the last (output)
  std::vector<std::int64_t> item_hidden = {};
  std::int64_t output = 0;  // of the vectors whose inner product is the score
};

/// "tiny", "small" or "standard". Throws Error(input) for another name, listing these.
TwoTowerShape two_tower_preset(std::string_view name);
std::vector<std::string> two_tower_presets();

struct TwoTower {
  std::unique_ptr<Graph> graph;
  Var embeddings;   // [samples, (user tables + item tables) x width]; has a gradient
  Var corrections;  // [samples, 1]: minus the logarithm of how often the sample's item is drawn
  Var targets;      // int32 [samples, 1]: sample i's is i
  Var vectors;      // [samples, 2 x output]: of the user, then of the item; after forward()
  Var losses;       // f64 [samples, 1], nats: softmax over the items of the samples
};

/// The graph of one micro-batch of `samples`, whose items are each other's negatives.
TwoTower make_two_tower(const TwoTowerShape& shape, std::int64_t samples, Dtype dtype = Dtype::f32);

/// Forward and backward: three times those of the GEMMs, with `samples` in a micro-batch; lookups
/// have none.
double two_tower_flops_per_sample(const TwoTowerShape& shape, std::int64_t samples);

}  // namespace bench::training

// Relational graph attention (R-GAT, arXiv 1904.05811; GAT, arXiv 1710.10903) on sampled
// neighbourhoods: a layer gives each node what its neighbours of each relation send, weighted by
// attention within the relation, plus a transform of its own; a paper's class is read from the last
// layer. Trees have one shape, so all neighbours are rows in a fixed order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/graph.h"
#include "training/sources/neighbourhood_source.h"

namespace bench::training {

struct RgatShape {
  NeighbourhoodShape samples = {};  // with as many layers as fan-outs
  std::int64_t hidden = 0, heads = 0;
};

/// tiny, small, standard, igbh (layers and fan-outs of MLPerf Training's R-GAT).
std::vector<std::string> rgat_presets();
/// Throws Error(input) for another name, listing these.
RgatShape rgat_preset(std::string_view name);

struct Rgat {
  std::unique_ptr<Graph> graph;
  /// By group of node_groups(): [samples x nodes, columns], sample by sample.
  std::vector<Var> features;
  Var labels;  // int32 [samples, 1]
  Var logits;  // [samples, classes]
  Var losses;  // one per sample
};

Rgat make_rgat(const RgatShape& shape, std::int64_t samples, Dtype dtype = Dtype::f32,
               bool recompute = false);

/// Forward and backward: three times the GEMMs and attention of a forward pass, less the gradients
/// of features, which nothing needs.
double rgat_flops_per_sample(const RgatShape& shape);

}  // namespace bench::training

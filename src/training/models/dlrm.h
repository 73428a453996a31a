// Click models of recommendation: DLRM with dot products of all pairs of features (arXiv
// 1906.00091), and DCNv2 with low-rank cross layers, as MLPerf trains it (arXiv 2008.13535). The
// embedding tables are outside the graph (tables/sparse_tables.h); the values looked up in them are
// an input.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/graph.h"

namespace bench::training {

struct DlrmShape {
  int dense = 13;          // dense features
  int tables = 0;          // embedding tables, one sum of rows each
  std::int64_t width = 0;  // of a row, and of the bottom MLP's result
  std::vector<std::int64_t> bottom =
      {};                              // layers over the dense features, without the last (width)
  std::vector<std::int64_t> top = {};  // layers over the interaction, without the last (1)
  std::int64_t cross_layers = 0;       // 0: pairwise dot products
  std::int64_t cross_rank = 0;
};

/// "tiny": pairwise dot products, 12 tables of width 16. "small": DCNv2, 26 of width 64.
/// "standard": MLPerf DLRM-DCNv2's. Throws Error(input) for another name, listing these.
DlrmShape dlrm_preset(std::string_view name);
std::vector<std::string> dlrm_presets();

struct Dlrm {
  std::unique_ptr<Graph> graph;
  Var dense;       // [samples, dense]
  Var embeddings;  // [samples, tables x width]; has a gradient
  Var labels;      // [samples, 1], 0 or 1
  Var logits;      // [samples, 1]; after forward() of an evaluation
  Var losses;      // f64 [samples, 1], nats
};

/// The graph of one micro-batch of `samples`.
Dlrm make_dlrm(const DlrmShape& shape, std::int64_t samples, Dtype dtype = Dtype::f32);

/// Forward and backward: three times those of the GEMMs and the interaction; lookups have none.
double dlrm_flops_per_sample(const DlrmShape& shape);

}  // namespace bench::training

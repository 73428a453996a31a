// Training of a relational graph attention network that classifies papers by their sampled
// neighbourhoods in a generated graph (sources/paper_graph.h). Features of all nodes are in a
// memory-mapped file. Quality is the mean divergence of the model's probabilities from those of
// belief propagation with the law's parameters, on the same neighbourhoods. The seed draws initial
// weights, the order of papers and their neighbours; the graph and the evaluation samples are the
// same for all seeds.
#pragma once

#include <memory>
#include <string>

#include "training/models/rgat.h"
#include "training/sources/paper_graph.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// How a preset of models/rgat.h is trained.
struct RgatSetting {
  RgatShape shape = {};
  PaperGraphOptions law = {};  // except shape and seed
  Recipe recipe = {};
  AdamwOptions adamw = {};

  /// The graph for this shape.
  PaperGraphOptions graph(std::uint64_t seed) const;
};
/// Throws Error(input) as rgat_preset() does.
RgatSetting rgat_setting(const std::string& preset);

/// The features are in a file of `data.cache` (FeatureFile), made or read by prepare(). Throws
/// Error(input) for an unknown preset, listing those of models/rgat.h, and for files, vocabulary or
/// table_rows in `data`: rgat trains on a generated graph only. Throws as FiniteOrder does for
/// `data.samples`.
std::unique_ptr<Workload> make_rgat_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data = {});
/// The same with a setting that is not a preset's, under its name.
std::unique_ptr<Workload> make_rgat_workload(const std::string& preset, const RgatSetting& setting,
                                             std::uint64_t seed, const DataChoice& data = {});

}  // namespace bench::training

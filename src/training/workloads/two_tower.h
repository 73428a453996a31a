// Training of two-tower retrieval models on interactions whose best ranking is known.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "training/sources/interaction_model.h"
#include "training/tables/sparse_tables.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// What each preset of two_tower defines: interactions, tables, and training.
struct TwoTowerSetting {
  InteractionOptions interactions = {};
  std::int64_t users = 0;     // evaluated; the evaluation samples are as many or more
  SparseOptions tables = {};  // except columns and seed
  AdamwOptions dense = {};
  Recipe recipe = {};
};

/// Items of a ranking that is evaluated.
inline constexpr std::size_t kRanked = 10;

/// Throws Error(input) for a preset outside two_tower_presets().
TwoTowerSetting two_tower_setting(const std::string& preset);

/// Presets are those of two_tower_preset(): tiny on 2,048 items, small on 0.1 M, standard on 1 M.
/// `seed` draws the training samples and the tables' initial values; the law and the evaluation
/// users are the same for all seeds. Throws Error(input) for another preset and for files.
std::unique_ptr<Workload> make_two_tower_workload(const std::string& preset, std::uint64_t seed,
                                                  const DataChoice& data = {});

}  // namespace bench::training

// Training of click models on click logs whose best attainable AUC is known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "training/sources/click_model.h"
#include "training/tables/sparse_tables.h"
#include "training/workloads/workload.h"

namespace bench::training {

// What each preset of dlrm fixes: click logs, tables, and how it is trained.

struct DlrmSetting {
  ClickModelOptions clicks = {};
  SparseOptions tables = {};  // but for columns and seed
  AdamwOptions dense = {};
  Recipe recipe = {};
};

/// Throws Error(input) for a preset that is none of dlrm_presets().
DlrmSetting dlrm_setting(const std::string& preset);

/// Presets are those of dlrm_preset(): tiny on click logs of 1806 rows, small of 10 M, standard of
/// MLPerf's tables with 214 lookups a sample. `seed` draws the training samples and the tables'
/// first values; the law and the evaluation samples are the same for all. Of click logs in files
/// the model takes features and tables, and has no target. Throws Error(input) for another preset.
std::unique_ptr<Workload> make_dlrm_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data = {});

}  // namespace bench::training

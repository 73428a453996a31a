// Training of click models on click logs whose best attainable AUC is known.
#pragma once

#include <memory>
#include <string>

#include "training/sources/click_model.h"
#include "training/tables/sparse_tables.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// What each preset of dlrm defines: click logs, tables, and training.
struct DlrmSetting {
  ClickModelOptions clicks = {};
  SparseOptions tables = {};  // except columns and seed
  AdamwOptions dense = {};
  Recipe recipe = {};
};

/// Throws Error(input) for a preset outside dlrm_presets().
DlrmSetting dlrm_setting(const std::string& preset);

/// Presets are those of dlrm_preset(): tiny on click logs of 1806 rows, small of 10 M, standard of
/// MLPerf's tables with 214 lookups per sample. `seed` draws the training samples and the tables'
/// initial values; the law and the evaluation samples are the same for all seeds. With click logs
/// in files, the model uses their features and tables and has no target. Throws Error(input) for
/// another preset.
std::unique_ptr<Workload> make_dlrm_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data = {});

}  // namespace bench::training

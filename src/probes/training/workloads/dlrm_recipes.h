// What each preset of dlrm fixes: click logs, tables, and how it is trained.
#pragma once

#include <string>

#include "probes/training/sources/click_model.h"
#include "probes/training/tables/sparse_tables.h"
#include "probes/training/workloads/workload.h"

namespace bench::training {

struct DlrmSetting {
  ClickModelOptions clicks = {};
  SparseOptions tables = {};  // but for columns and seed
  AdamwOptions dense = {};
  Recipe recipe = {};
};

/// Throws Error(input) for a preset that is none of dlrm_presets().
DlrmSetting dlrm_setting(const std::string& preset);

}  // namespace bench::training

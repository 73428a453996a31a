// Training of click models on click logs whose best attainable AUC is known.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "probes/training/workloads/workload.h"

namespace bench::training {

/// Presets are those of dlrm_preset(): tiny on click logs of 1806 rows, small of 10 M, standard of
/// MLPerf's tables with 214 lookups a sample. `seed` draws the training samples and the tables'
/// first values; the law and the evaluation samples are the same for all. Of click logs in files
/// the model takes features and tables, and has no target. Throws Error(input) for another preset.
std::unique_ptr<Workload> make_dlrm_workload(const std::string& preset, std::uint64_t seed,
                                             const DataChoice& data = {});

}  // namespace bench::training

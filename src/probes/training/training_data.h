// The data of a job of the probe `training`: its files, and how much of them is in
// memory before a run.
#pragma once

#include "core/json.h"
#include "devices/group.h"
#include "probes/state.h"
#include "training/workloads/workload.h"

namespace bench {

/// By the parameters data, evaluation_data, vocabulary, table_rows, samples and base_cache. A path
/// is a file, or a folder whose file names decide: `train` to train on, `val` or `test` without it
/// to evaluate on. Throws Error(input) where none is found, or evaluation_data stands alone;
/// Error(environment) for a folder that cannot be read.
training::DataChoice training_data(const State& state);

/// Asks the kernel to drop the files from memory, as MLPerf has it before a run, on every rank at
/// once: {"cleared", "reason", "resident_share"}. What it kept counts as not cleared, and so does a
/// generated file, which initialization reads.
Json clear_cache(const std::string& workload, const training::DataChoice& data, Group& group);

}  // namespace bench

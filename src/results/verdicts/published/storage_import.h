// Imports a submission of MLPerf Storage as runs (benchctl import mlperf-storage) for history,
// compare and reports. The i-th measured run (of a KV cache: trial) of each workload becomes a
// value of the system's i-th run, so the mean over runs is the score.
#pragma once

#include "mlperf/storage/storage_check.h"
#include "results/import/collected_series.h"

namespace bench::mlperf::storage {

/// Metrics mlperf_storage.read_bandwidth and so on, one for each figure of the score, in base
/// units. Parameters: workload, model, option of a KV cache, and the shape: hosts, accelerators,
/// accelerator, processes, vectors, dimension; division unless closed. Labels of a run: round,
/// division, organisation, system, repetition. Figures that the check found to be wrong are
/// invalid. What has no score or no date is skipped with a note to `sink`; Error(input) if nothing
/// remains.
void import_storage(const StorageReport& report, ImportSink& sink);

}  // namespace bench::mlperf::storage

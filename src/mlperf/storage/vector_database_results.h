// Results of a run of a vector database.
#pragma once

#include <optional>

#include "mlperf/storage/storage_subject.h"

namespace bench::mlperf::storage {

/// statistics.json: of the run, or of a run over MPI in vectordb/simple; null without.
Json statistics_of(const LoadedLeaf& one);
/// Whether one of them was replaced before publication.
bool statistics_are_pruned(const LoadedLeaf& one);

/// From 0 to 1: of the summary, else of recall_stats.json, else of the statistics.
std::optional<double> recall_of(const LoadedLeaf& one);

}  // namespace bench::mlperf::storage

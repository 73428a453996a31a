// Published results as runs of ours (benchctl import mlperf): history, compare and scaling read
// them as they read what was measured here. The i-th log of each entry is the i-th run, for what is
// repeated in MLPerf is the training; an entry is a job of as many ranks as it has accelerators.
#pragma once

#include <span>
#include <string>

#include "results/importers/import_sink.h"
#include "results/mlperf/published/published_entry.h"

namespace bench::mlperf {

/// Metrics mlperf.time_to_train (s, the raw time), mlperf.scored_time (s, times the factor of the
/// convergence test) and mlperf.samples_to_target (or epochs_to_target), each with the parameter
/// benchmark, and division where it is not closed. A run that does not count has no value, and its
/// job has failed. Facts: the accelerators as GPUs, processor and operating system, and the
/// description. Entries without accelerators or without a description are told to `sink` as notes
/// and left out; Error(input) where none is left.
void import_published(std::span<const PublishedEntry> entries, ImportSink& sink);

/// The name of a host for a system: "NVIDIA.theia_ngpu8"; other characters than hosts' names may
/// have become '-'.
std::string host_of_system(const std::string& submitter, const std::string& system);

}  // namespace bench::mlperf

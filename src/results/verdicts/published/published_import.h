// Imports published results as runs (benchctl import mlperf) for history, compare and scaling. The
// unit of repetition in MLPerf is the training, so the i-th log of each entry becomes the i-th run.
// An entry becomes a job with one rank per accelerator.
#pragma once

#include <span>
#include <string>

#include "results/import/collected_series.h"
#include "results/verdicts/published/published_entry.h"

namespace bench::mlperf {

/// Metrics mlperf.time_to_train (s, the raw time), mlperf.scored_time (s, multiplied by the factor
/// of the convergence test) and mlperf.samples_to_target (or epochs_to_target), each with the
/// parameters benchmark, accelerator (its model), and division unless closed. A run that does not
/// count becomes a failed job without a value. A copy of a log that was imported before is skipped
/// with a note. Facts: accelerators as GPUs, processor, operating system, and the description.
/// Entries without an accelerator count are skipped with a note to `sink`; Error(input) if none
/// remains.
void import_published(std::span<const PublishedEntry> entries, ImportSink& sink);

/// Characters that are allowed in host names and in words of the command line; others become '-'.
std::string plain_word(const std::string& text);
/// The host name for a system: "NVIDIA.theia_ngpu8"; invalid characters become '-'.
std::string host_of_system(const std::string& submitter, const std::string& system);

}  // namespace bench::mlperf

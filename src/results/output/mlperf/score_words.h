// Formatting shared by the text, HTML and CSV reports.
#pragma once

#include <string>
#include <vector>

#include "mlperf/score/submission_score.h"

namespace bench::mlperf {

/// "5.2187"; "" if not finite.
std::string format_minutes(double minutes);
/// "NVIDIA theia_ngpu512 llama31_8b"; with the folder outside the layout.
std::string entry_name(const EntryScore& entry);
/// "mean of 8 of 10 runs, without the fastest (4.9071) and the slowest (5.5012)".
std::string mean_text(const EntryScore& entry);
/// "10 consecutive runs of 12 are scored ..."; "" without a window.
std::string window_text(const EntryScore& entry);
std::string what_if_text(const EntryScore& entry, const WhatIf& what_if);
/// "1.010654 (scaling.json agrees)".
std::string factor_text(const EntryScore& entry);
/// The entry of a row for a benchmark; nullptr if there is none.
const EntryScore* entry_at(const SubmissionScore& score, const SystemRow& row,
                           const std::string& benchmark);

}  // namespace bench::mlperf

// Body of a run report: one block per case with a table of its metrics, its sweeps as curves, and
// reasons for missing results.
#pragma once

#include <string>
#include <vector>

#include "results/output/document/text_style.h"
#include "results/run/dimensions.h"
#include "results/run/run_summary.h"

namespace bench {

// Folds many repeats of a case into one row.

/// Folds more than six ok results that differ only in the repeat into one: its samples are the
/// medians of the repeats, its parameter "repeats" their number. Other results stay, in order.
std::vector<Result> fold_repeats(const Rows& rows);

std::string cases_text(const RunSummary& report, const TextStyle& style);

}  // namespace bench

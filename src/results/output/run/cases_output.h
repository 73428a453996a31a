// Body of a run report: one section per case with a table of its metrics, its sweeps as curves, and
// reasons for missing results.
#pragma once

#include <vector>

#include "results/output/document/document.h"
#include "results/run/dimensions.h"
#include "results/run/run_summary.h"

namespace bench {

/// Folds more than six ok results that differ only in the repeat into one: its samples are the
/// medians of the repeats, its parameter "repeats" their number. Other results stay, in order.
std::vector<Result> fold_repeats(const Rows& rows);

void add_cases(Document& document, const RunSummary& report);

}  // namespace bench

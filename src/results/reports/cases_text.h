// Body of a run report: one block per case with a table of its metrics, its sweeps as curves, and
// reasons for missing results.
#pragma once

#include <string>

#include "results/reports/text_style.h"
#include "results/run_summary.h"

namespace bench {

std::string cases_text(const RunSummary& report, const TextStyle& style);

}  // namespace bench

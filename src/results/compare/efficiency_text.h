// Efficiency of two kinds of hardware: share of limits, work per watt, GPU and dollar, and which
// resource a workload scales with.
#pragma once

#include <string>

#include "results/compare/compare.h"
#include "results/reports/text_style.h"

namespace bench {

/// "" unless hardware differs or prices are given.
std::string efficiency_text(const Comparison& comparison, const TextStyle& style);

}  // namespace bench

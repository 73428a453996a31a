// What two kinds of hardware make of what they have: shares of their limits, work a watt, a GPU and
// a dollar, and what a workload's gain follows.
#pragma once

#include <string>

#include "results/compare/compare.h"
#include "results/reports/text_style.h"

namespace bench {

/// "" unless hardware differs or prices are given.
std::string efficiency_text(const Comparison& comparison, const TextStyle& style);

}  // namespace bench

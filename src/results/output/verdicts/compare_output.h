// A comparison for people: on a terminal, and as a page.
#pragma once

#include <string>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/compare/compare.h"

namespace bench {

// Efficiency of two kinds of hardware: share of limits, work per watt, GPU and dollar, and which
// resource a workload scales with.

/// "" unless hardware differs or prices are given.
std::string efficiency_text(const Comparison& comparison, const TextStyle& style);

/// `all`: also the metrics that are equivalent, which are counted otherwise.
std::string to_text(const Comparison& comparison, const TextStyle& style, bool all = false);

/// A self-contained page.
std::string to_html(const Comparison& comparison);

/// The badge of a verdict on a page: pass, fail or inconclusive.
std::string badge_of(ChangeVerdict verdict);

/// "+2.1 % [+1.0, +3.2]" of a ratio and its interval; "x 1.62 [1.58, 1.66]" from a quarter on.
std::string change_text(double ratio, double low, double high);

/// "bf16, m 512, packed": texts and flags without their names.
std::string params_text(const Json& params);

}  // namespace bench

// A comparison for programs.
#pragma once

#include "core/json.h"
#include "results/verdicts/compare/compare.h"

namespace bench {

/// {metrics: [{metric, params, unit, better, ratio, low, high, p, verdict, n_a, n_b, n_needed}]}
/// and more, by schemas/compare.json.
Json to_json(const Comparison& comparison);

}  // namespace bench

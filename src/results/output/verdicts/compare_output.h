// A comparison of two sides, as a report and as JSON.
#pragma once

#include <string>

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/compare/compare.h"

namespace bench {

/// `all`: the terminal also lists the metrics that are equivalent, as pages do.
Document to_document(const Comparison& comparison, bool all = false);

/// {metrics: [{metric, params, unit, better, ratio, low, high, p, verdict, n_a, n_b, n_needed}]}
/// and more, by schemas/compare.json.
Json to_json(const Comparison& comparison);

Tone tone_of(ChangeVerdict verdict);

/// "bf16, m 512, packed": texts and flags without their names.
std::string params_text(const Json& params);

}  // namespace bench

// A ladder: several sides, each compared with the one before and with the first. As a report and as
// JSON.
#pragma once

#include "core/json.h"
#include "results/output/document/document.h"
#include "results/verdicts/compare/ladder.h"

namespace bench {

Document to_document(const Ladder& ladder);

/// {ladder: [{metric, params, unit, better, steps: [{name, value, ranks, price, individual,
/// cumulative, time_s, cost, relative_cost, changed}]}]}, by schemas/compare.json.
Json to_json(const Ladder& ladder);

}  // namespace bench

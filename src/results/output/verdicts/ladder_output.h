// A ladder for people and for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/compare/ladder.h"

namespace bench {

// Words that a ladder's text and page share.

/// "x 1.234 [1.2, 1.3]"; "" if unknown.
std::string speed_up_text(const SpeedUp& speed_up);
/// "driver: 550 to 560; and 3 more": at most `shown` of them.
std::string changes_text(const std::vector<FactChange>& changes, std::size_t shown);
/// The metric with its parameters.
std::string ladder_title(const LadderMetric& metric);

std::string to_text(const Ladder& ladder, const TextStyle& style);
/// A self-contained page.
std::string to_html(const Ladder& ladder);
/// {ladder: [{metric, params, unit, better, steps: [{name, value, ranks, price, individual,
/// cumulative, time_s, cost, relative_cost, changed}]}]}, by schemas/compare.json.
Json to_json(const Ladder& ladder);

}  // namespace bench

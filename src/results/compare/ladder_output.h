// A ladder for people and for programs.
#pragma once

#include <string>

#include "core/json.h"
#include "results/compare/ladder.h"
#include "results/reports/text_style.h"

namespace bench {

std::string to_text(const Ladder& ladder, const TextStyle& style);
/// A self-contained page.
std::string to_html(const Ladder& ladder);
/// {ladder: [{metric, params, unit, better, steps: [{name, value, ranks, price, individual,
/// cumulative, time_s, cost, relative_cost, changed}]}]}, by schemas/compare.json.
Json to_json(const Ladder& ladder);

}  // namespace bench

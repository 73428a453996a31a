// Rooflines for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/output/document/text_style.h"
#include "results/verdicts/compare/roofline.h"

namespace bench {

std::string to_text(const std::vector<Roofline>& rooflines, const TextStyle& style);
/// A self-contained page with all rooflines in one plot.
std::string to_html(const std::vector<Roofline>& rooflines);
/// {rooflines: [{name, hardware, device, bandwidth, ceilings: [...], points: [...]}]}, by
/// schemas/report_roofline.json.
Json to_json(const std::vector<Roofline>& rooflines);

}  // namespace bench

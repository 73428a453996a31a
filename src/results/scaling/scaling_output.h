// What more workers bring, for people and for programs.
#pragma once

#include <string>

#include "core/json.h"
#include "results/reports/text_style.h"
#include "results/scaling/scaling_report.h"

namespace bench {

std::string to_text(const ScalingReport& report, const TextStyle& style);
/// {series: [{metric, points: [{n, value, low, high, efficiency}], fit: {model, parameters,
/// intervals}}]} and more: schemas/report_scaling.json.
Json to_json(const ScalingReport& report);
std::string to_html(const ScalingReport& report);

}  // namespace bench

// What more workers bring, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "results/output/document/document.h"
#include "results/verdicts/scaling/scaling_curve.h"
#include "results/verdicts/scaling/scaling_report.h"

namespace bench {

// Text of a scaling curve, shared by terminal and page.

/// Meaning of a value, ideal scaling, and the base.
std::string law_words(const ScalingCurve& curve);
/// The law with parameters, peak and predictions, or why there is no fit.
std::vector<std::string> fit_lines(const ScalingCurve& curve);
/// "[9.8 GB/s, 10.1 GB/s]"; "" if unknown.
std::string range_words(double low, double high, Unit unit);
/// "94.1 % [93.0, 95.2]"; "" for no value.
std::string share_words(const Ratio& ratio);

Document to_document(const ScalingReport& report);
/// {series: [{metric, points: [{n, value, low, high, efficiency}], fit: {model, parameters,
/// intervals}}]} and more: schemas/report_scaling.json.
Json to_json(const ScalingReport& report);

}  // namespace bench

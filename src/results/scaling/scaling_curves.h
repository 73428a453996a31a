// How curves come into a report.
#pragma once

#include <span>
#include <string>

#include "results/scaling/scaling_report.h"

namespace bench {

/// Whether the metrics that were asked for include this one.
bool is_asked(const std::string& metric, const ScalingSettings& settings);

/// Finished; one of a single number of workers is counted and left out.
void add_curve(ScalingCurve curve, const ScalingSettings& settings, ScalingReport& report);

/// Strong and weak scalings of trainings over their ranks.
void add_trainings(std::span<const RunRecords> runs, const ScalingSettings& settings,
                   ScalingReport& report);

}  // namespace bench

// What is said of a curve, on a terminal as in a page.
#pragma once

#include <string>
#include <vector>

#include "core/units.h"
#include "results/scaling/scaling_curve.h"

namespace bench {

/// What a value is, what would be ideal, and the base.
std::string law_words(const ScalingCurve& curve);
/// The law, its parameters, where it peaks, predictions; or why there is none.
std::vector<std::string> fit_lines(const ScalingCurve& curve);
/// "[9.8 GB/s, 10.1 GB/s]"; "" where there is none.
std::string range_words(double low, double high, Unit unit);
/// "94.1 % [93.0, 95.2]"; "" for no value.
std::string share_words(const Ratio& ratio);

}  // namespace bench

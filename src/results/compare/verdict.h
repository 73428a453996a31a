// From an interval to a word: what a change of a metric is, held against the practical threshold
// and never against a p-value alone.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/units.h"
#include "results/statistics/hodges_lehmann.h"

namespace bench {

enum class ChangeVerdict {
  improved,     // the whole interval is better by more than the threshold
  regressed,    // the whole interval is worse by more than the threshold
  equivalent,   // the whole interval lies within the threshold
  changed,      // it differs; whether by more than the threshold is not known, or no way is better
  inconclusive  // nothing of this can be said
};
std::string_view to_string(ChangeVerdict verdict);

/// Where a difference begins to matter, on the scale of the shift: logarithms of ratios, or
/// differences as they are.
struct Margins {
  double up = 0.0;    // ln(1 + threshold)
  double down = 0.0;  // -ln(1 - threshold)
};
/// `centre`: what the threshold is a share of where the scale is linear.
Margins margins(double threshold, bool log_scale, double centre);

/// The verdict on the interval of B - A; inconclusive without an interval.
ChangeVerdict judge(const Shift& shift, Better better, const Margins& margins);

/// Runs a side that find a difference of `margin` with 80 % power at the 95 % level when single
/// values scatter by `deviation`: 2 ((z.975 + z.8) deviation / margin)^2 pi / 3, as a rank test
/// needs pi / 3 times what a t-test does. Half as many pairs do. At least what lets one of `family`
/// comparisons reach 5 %.
std::size_t runs_needed(double deviation, double margin, bool paired, std::size_t family = 1);

/// The fewest values a side whose smallest p is 0.05 / family or less.
std::size_t fewest_values(bool paired, std::size_t family = 1);

}  // namespace bench

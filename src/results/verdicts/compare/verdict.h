// Verdict on a change from its interval, judged against the practical threshold rather than a
// p-value alone.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/units.h"
#include "results/stats/hodges_lehmann.h"

namespace bench {

enum class ChangeVerdict {
  improved,     // the whole interval is better by more than the threshold
  regressed,    // the whole interval is worse by more than the threshold
  equivalent,   // the whole interval lies within the threshold
  changed,      // it differs; whether by more than the threshold is not known, or no way is better
  inconclusive  // no statement possible
};
std::string_view to_string(ChangeVerdict verdict);

/// Where a difference starts to matter, on the scale of the shift: logarithms of ratios, or plain
/// differences.
struct Margins {
  double up = 0.0;    // ln(1 + threshold)
  double down = 0.0;  // -ln(1 - threshold)
};
/// `centre`: on a linear scale the threshold is a share of this value.
Margins margins(double threshold, bool log_scale, double centre);

/// The verdict on the interval of B - A; inconclusive without an interval.
ChangeVerdict judge(const Shift& shift, Better better, const Margins& margins);

/// Runs per side to detect a difference of `margin` with 80 % power at the 95 % level for single
/// values with standard deviation `deviation`: 2 ((z.975 + z.8) deviation / margin)^2 pi / 3, as a
/// rank test needs pi / 3 times as many as a t-test. Half as many if paired. At least enough for
/// one of `family` comparisons to reach 5 %.
std::size_t runs_needed(double deviation, double margin, bool paired, std::size_t family = 1);

/// Fewest values per side whose smallest p is at most 0.05 / family.
std::size_t fewest_values(bool paired, std::size_t family = 1);

}  // namespace bench

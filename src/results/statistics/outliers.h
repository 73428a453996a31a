// Finds values significantly below the rest, even if there are several.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// Fewer values have no level.
inline constexpr std::size_t kFewestForOutliers = 4;

/// For each value the chance that any of as many Gaussian values would be called low at its level;
/// 1 for values that are not low. Generalised extreme studentised deviate (B. Rosner, Percentage
/// points for a generalized ESD many-outlier procedure, Technometrics 25, 1983): removes the most
/// extreme value repeatedly until half are left; each is compared with the remaining ones by
/// Student's t times their number (Bonferroni), and an outlier makes outliers of all removed before
/// it. For few values, mean and standard deviation estimate the scatter better than a MAD. From a
/// hundred values on, each suspect is then compared with the values left without suspects, so that
/// many bad ones cannot mask each other. Below 32 values, some are close together by chance and
/// make others look like outliers. All levels are raised to compensate (scripts/evidence
/// acceptance_rates). `least_sd` > 0: the smallest standard deviation assumed, in the values' unit.
/// All 1 for fewer than kFewestForOutliers values.
std::vector<double> low_outlier_levels(std::span<const double> values, double least_sd);

}  // namespace bench

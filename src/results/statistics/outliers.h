// Which of a few values lie below the rest by more than chance, however many of them do.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// Fewer values have no level.
inline constexpr std::size_t kFewestForOutliers = 4;

/// Of each value: the chance that any of as many Gaussian values would be called too low where this
/// one just is; 1 for what is not low. The generalised extreme studentised deviate (B. Rosner,
/// Percentage points for a generalized ESD many-outlier procedure, Technometrics 25, 1983): the
/// most extreme value is taken out, again and again until half are left; each is held against those
/// that are still there by Student's t, times their number (Bonferroni), and what makes an outlier
/// of one makes one of all before it. Mean and standard deviation of the rest know the scatter of
/// few values better than a MAD does. Of a hundred values or more each suspect is then held against
/// what is left without suspects, so that many bad ones cannot hide each other. Among fewer than 32
/// some lie close together by chance and make outliers of others. All levels are raised so that
/// they hold (scripts/evidence acceptance_rates). `least_sd` > 0: the least standard deviation, in
/// the values' unit. All 1 for fewer than kFewestForOutliers.
std::vector<double> low_outlier_levels(std::span<const double> values, double least_sd);

}  // namespace bench

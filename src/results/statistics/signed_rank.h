// Wilcoxon's signed rank test of whether paired differences are centred on zero, and the median of
// the Walsh averages with its exact interval.
#pragma once

#include <span>

#include "results/statistics/hodges_lehmann.h"
#include "results/statistics/mann_whitney.h"

namespace bench {

/// The statistic is the rank sum of the positive differences; zeros are dropped. Exact up to 50
/// differences, also with ties; beyond that normal. p is two-sided.
RankTest signed_rank(std::span<const double> differences);

/// The median of all (d_i + d_j) / 2, i <= j, and the interval of order statistics among them with
/// at least `confidence`; none below six differences at 95 %.
Shift paired_shift(std::span<const double> differences, double confidence = 0.95);

}  // namespace bench

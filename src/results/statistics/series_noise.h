// The noise of a series that may contain steps: from the differences of neighbours, of which a step
// spoils one.
#pragma once

#include <span>

namespace bench {

/// Standard deviation, by 1.4826 MAD(differences) / sqrt(2). Where more than half of the
/// differences are equal, by their mean size (/ 1.128); 0 for a series that stands still or has
/// fewer than three values.
double difference_sigma(std::span<const double> values);

/// Correlation of neighbours of a series whose noise is a first-order autoregression: 1 + 2 r1 of
/// the differences, held within three of their sigmas; clipped to [0, 0.7]. One series of 60 knows
/// it badly: take the median of many.
double neighbour_correlation(std::span<const double> values);

/// How much larger the variance of a mean is under that correlation: f^2 = (1 + phi) / (1 - phi).
double variance_inflation(double correlation);

}  // namespace bench

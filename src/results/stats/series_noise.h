// Noise of a series that may contain steps, from differences of neighbours, only one of which is
// affected by a step.
#pragma once

#include <span>

namespace bench {

/// Standard deviation, 1.4826 MAD(differences) / sqrt(2). If more than half of the differences are
/// equal, their mean size / 1.128; 0 for a constant series or fewer than three values.
double difference_sigma(std::span<const double> values);

/// Lag-1 correlation of a series with first-order autoregressive noise: 1 + 2 r1 of the
/// differences, clamped to three of their sigmas and to [0, 0.7]. A single series of 60 gives a
/// poor estimate: take the median of many.
double neighbour_correlation(std::span<const double> values);

/// How much larger the variance of a mean is under that correlation: f^2 = (1 + phi) / (1 - phi).
double variance_inflation(double correlation);

}  // namespace bench

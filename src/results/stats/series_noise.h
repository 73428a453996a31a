// Noise of a series that may contain steps, from differences of neighbours, only one of which is
// affected by a step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

/// Standard deviation, 1.4826 MAD(differences) / sqrt(2). If more than half of the differences are
/// equal, their mean size / 1.128; 0 for a constant series or fewer than three values.
double difference_sigma(std::span<const double> values);

/// Lag-1 correlation of a series with first-order autoregressive noise: 1 + 2 r1 of the
/// differences, clamped to three of their sigmas and to [0, 0.7]. A single series of 60 gives a
/// poor estimate: take the median of many.
double neighbour_correlation(std::span<const double> values);

/// Lag-1 correlation of the values about the means of their levels, each of which begins at one of
/// `begins` (the first is 0). Values farther than three robust sigmas count as that far; what the
/// estimated means take away is given back. Clamped to [0, 0.9].
double correlation_about_levels(std::span<const double> values,
                                std::span<const std::size_t> begins);

/// Correlations of series of one kind, each drawn to their mean as far as they differ no more than
/// by chance, (1 - phi^2) / count. None is below the mean, and all are raised by a part of
/// the standard error of the mean: too small a correlation makes noise look like a step.
std::vector<double> shrunk_correlations(std::span<const double> correlations,
                                        std::span<const double> counts);

/// How much larger the variance of a mean is under that correlation: f^2 = (1 + phi) / (1 - phi).
double variance_inflation(double correlation);

}  // namespace bench

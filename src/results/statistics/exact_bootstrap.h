// The bootstrap without a random number: the whole distribution that resampling draws from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/order_statistics.h"

namespace bench {

/// For an odd number n of values: P(the median of a resample is the k-th smallest), k = 1..n.
/// Maritz and Jarrett 1978. Empty for an even n.
std::vector<double> bootstrap_median_mass(std::size_t n);

/// The interval from the 2.5 % to the 97.5 % point of the means of all n^n resamples: the least
/// mean with at least that share at or below it. For one to eight values; {NaN, NaN} for others.
Interval bootstrap_mean_interval(std::span<const double> values);

}  // namespace bench

// Poisson tail probability and upper confidence bound for counts of rare events. Exact, from the
// regularised incomplete gamma function (Abramowitz & Stegun 6.5.13, 26.4.21); a normal
// approximation fails at low counts.
#pragma once

namespace bench {

/// Chance of at least `count` events if `mean` are expected. 1 for count 0; NaN for an invalid
/// mean.
double poisson_at_least(double count, double mean);

/// Upper confidence bound of the mean: P(X <= count) = 1 - confidence
/// (Garwood 1936, one-sided). 2.996 for none at 95 %.
double poisson_upper(double count, double confidence = 0.95);

}  // namespace bench

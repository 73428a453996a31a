// Counts of rare, independent events: how likely so many are, and how many there may be in truth.
// Exact, from the regularised incomplete gamma function (Abramowitz & Stegun 6.5.13, 26.4.21); no
// normal approximation, which is wrong for the few events that matter.
#pragma once

namespace bench {

/// Chance of `count` events or more where `mean` are expected. 1 for none; NaN for a mean that is
/// none.
double poisson_at_least(double count, double mean);

/// The largest mean that does not make so few events unlikely: P(X <= count) = 1 - confidence
/// (Garwood 1936, one-sided). 2.996 for none at 95 %.
double poisson_upper(double count, double confidence = 0.95);

}  // namespace bench

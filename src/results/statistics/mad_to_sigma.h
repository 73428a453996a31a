// Robust scatter of values with a few outliers.
#pragma once

namespace bench {

/// Factor from the median of |value - median| (MAD) to the standard deviation of Gaussian values: 1
/// / the 75 % quantile of the normal distribution (Rousseeuw and Croux 1993).
inline constexpr double kMadToSigma = 1.4826;

}  // namespace bench

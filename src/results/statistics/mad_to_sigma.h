// The scatter of values of which a few may be bad.
#pragma once

namespace bench {

/// Times the median of |value - median| (MAD) the standard deviation, where values are Gaussian:
/// 1 / the 75 % quantile of the normal distribution (Rousseeuw and Croux 1993).
inline constexpr double kMadToSigma = 1.4826;

}  // namespace bench

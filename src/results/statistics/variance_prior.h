// Prior for the variance of one series from many series of its kind. A variance estimated from ten
// points is poor; shrunk towards that of its peers it finds a change with half the points. Source:
// Smyth 2004, Statistical Applications in Genetics 3(1), section 6.2 (moments of ln s^2 under a
// scaled inverse chi-squared prior).
#pragma once

#include <cstddef>
#include <span>

namespace bench {

struct VariancePrior {
  double variance = 0.0;  // s0^2, in squared units of the values
  double degrees = 0.0;   // d0; 0: there is no prior
};

/// One variance with its degrees of freedom per series. No prior from fewer than eight; if the
/// variances differ no more than by chance, the prior has kFirmestPrior degrees of freedom.
inline constexpr std::size_t kFewestVariances = 8;
inline constexpr double kFirmestPrior = 1000.0;
VariancePrior variance_prior(std::span<const double> variances, std::span<const double> degrees);

/// (d0 s0^2 + d s^2) / (d0 + d)
double moderated_variance(const VariancePrior& prior, double variance, double degrees);

double digamma(double x);   // x > 0
double trigamma(double x);  // x > 0

}  // namespace bench

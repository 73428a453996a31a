// Is a new value one of the same series? The prediction test: T = (y - m) / (s sqrt(1 + 1/n)) with
// n - 1 degrees of freedom; with a prior for the variance, its degrees come on top.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace bench {

// Prior for the variance of one series from many series of its kind. A variance estimated from ten
// points is poor; shrunk towards that of its peers it finds a change with half the points. Source:
// Smyth 2004, Statistical Applications in Genetics 3(1), section 6.2 (moments of ln s^2 under a
// scaled inverse chi-squared prior).

struct VariancePrior {
  double variance = 0.0;  // s0^2, in squared units of the values
  double degrees = 0.0;   // d0; 0: no prior
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

struct PredictionTest {
  double centre = 0.0;    // mean of the history
  double variance = 0.0;  // moderated
  double t = 0.0;
  double degrees = 0.0;
  double below = 1.0;  // chance of a value as low as this or lower
  double above = 1.0;  // ... as high or higher
};

/// `history`: at least two values. `floor`: the smallest standard deviation assumed, in the values'
/// unit; without it a constant history would flag a one-bit difference. `tail`: degrees of freedom
/// of the Student's t that describes the noise's tails; infinite for normal noise.
PredictionTest predict(std::span<const double> history, double value,
                       const VariancePrior& prior = {}, double floor = 0.0,
                       double tail = std::numeric_limits<double>::infinity());

/// Fourth and second moments of deviations to one side, of one series or of many. Each value is
/// compared with the other values of its series, as a new one would be (externally studentised), so
/// that an outlier does not hide in the variance it causes.
struct TailMoments {
  double fourth = 0.0, second = 0.0, count = 0.0;
  std::vector<double> residuals = {};  // sizes of the deviations, studentised
  double normal = 0.0;                 // sum of the kurtosis that normal noise would show
  void add(std::span<const double> history, bool below);
  /// The moments without those of a series that was added; without residuals.
  TailMoments without(std::span<const double> history, bool below) const;
  /// Degrees of freedom of the Student's t with this kurtosis, 4 + 6 / excess; infinite without
  /// excess.
  double degrees() const;
  /// How many deviations were as large as `t` or larger.
  std::size_t reaching(double t) const;
};

}  // namespace bench

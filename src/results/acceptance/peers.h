// Each host against all: how far it lies from the median of the fleet, which one bad host in ten
// leaves as it is, and how likely chance puts one of a healthy fleet there.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"
#include "results/statistics/outliers.h"

namespace bench {

/// Fewer hosts than this cannot judge each other.
inline constexpr std::size_t kFewestPeers = kFewestForOutliers;

struct PeerScores {
  double median = 0.0;
  double mad = 0.0;            // median of |value - median|
  double sigma = 0.0;          // robust_sigma(), or the floor where that is larger
  std::vector<double> z;       // of each value; negative is worse than the median
  std::vector<double> levels;  // of each: the chance that any of a healthy fleet is so much worse
};

/// 1.4826 times the median of |value - median|: the standard deviation of Gaussian values, which a
/// few bad ones leave as it is.
double robust_sigma(std::span<const double> values);

/// `floor` > 0: the least sigma, in the values' unit: equal values of most hosts must not make a
/// difference of one bit an outlier. Better::none is scored as higher. Levels are those of Rosner's
/// outlier test (statistics/outliers.h), 1 of fewer than kFewestPeers.
PeerScores peer_scores(std::span<const double> values, Better better, double floor);

/// Whether value i is worse than its peers by more than chance: `chance`, that of any in a healthy
/// fleet to be so much worse, is `level` at most; or it is at a quarter of its peers or below, and
/// their scatter four times smaller, which no chance does, however few they are (kFewestPeers at
/// least).
bool stands_out(const PeerScores& scores, std::size_t i, double loss, double chance, double level);

/// By how much the value is worse than the reference, as a share of the reference: 0.05 for 95
/// against 100 where higher is better, and for 105 where lower is. Negative: it is better.
double loss(double value, double reference, Better better);

/// "18.0 % worse", "1.2 % better".
std::string loss_text(double loss);

/// Two-sided 95 % quantile of Student's t.
double student_95(std::size_t degrees);

/// The noise of each host's runs, as a standard deviation relative to `median`, drawn towards that
/// of the fleet (weight kPriorRuns): three runs alone know their own scatter badly.
struct Moderated {
  double fleet = 0.0;           // of a typical host
  std::vector<double> of_host;  // in the order given
  std::vector<double> half;     // half-width of the 95 % interval of the median of the host's runs
};
Moderated moderated_noise(std::span<const std::vector<double>> runs, double median);

}  // namespace bench

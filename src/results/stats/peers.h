// Scores of hosts against their peers: the distance from the fleet median, which one bad host in
// ten does not move, and its probability in a healthy fleet.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/units.h"

namespace bench {

// Finds values significantly below the rest, even if there are several.

/// Fewer values have no level.
inline constexpr std::size_t kFewestForOutliers = 4;

/// For each value the chance that any of as many Gaussian values would be called low at its level;
/// 1 for values that are not low. Generalised extreme studentised deviate (B. Rosner, Percentage
/// points for a generalized ESD many-outlier procedure, Technometrics 25, 1983): removes the most
/// extreme value repeatedly until half are left; each is compared with the remaining ones by
/// Student's t times their number (Bonferroni), and an outlier makes outliers of all removed before
/// it. For few values, mean and standard deviation estimate the scatter better than a MAD. From a
/// hundred values on, each suspect is then compared with the values left without suspects, so that
/// many bad ones cannot mask each other. Below 32 values, some are close together by chance and
/// make others look like outliers. All levels are raised to compensate (scripts/evidence
/// acceptance_rates). `least_sd` > 0: the smallest standard deviation assumed, in the values' unit.
/// All 1 for fewer than kFewestForOutliers values.
std::vector<double> low_outlier_levels(std::span<const double> values, double least_sd);

/// Minimum number of hosts for a peer comparison.
inline constexpr std::size_t kFewestPeers = kFewestForOutliers;

// Other work slows some runs, a fault all of them: something is called slow beside its equals only
// after this many runs of both, and for a loss beyond this multiple of what repeats differ by (log
// distances).
inline constexpr std::size_t kFewestRepeats = 3;
inline constexpr double kBeyondRepeats = 2.0;

struct PeerScores {
  double median = 0.0;
  double mad = 0.0;            // median of |value - median|
  double sigma = 0.0;          // robust_sigma(), or the floor where that is larger
  std::vector<double> z;       // of each value; negative is worse than the median
  std::vector<double> levels;  // per host: chance that any host of a healthy fleet is so much worse
};

/// 1.4826 times the median of |value - median|: a standard deviation robust to a few outliers.
double robust_sigma(std::span<const double> values);

/// `floor` > 0: the least sigma, in the unit of the values, so that equal values of most hosts do
/// not make one differing bit an outlier. Better::none is scored as higher. Levels are those of
/// Rosner's outlier test above, 1 for fewer than kFewestPeers values.
PeerScores peer_scores(std::span<const double> values, Better better, double floor);

/// Whether value i is significantly worse than its peers: `chance`, that of any host in a healthy
/// fleet being so much worse, is at most `level`; or the value is at most a quarter of its peers,
/// whose scatter is four times smaller (kFewestPeers at least).
bool stands_out(const PeerScores& scores, std::size_t i, double loss, double chance, double level);

/// Relative loss against the reference: 0.05 for 95 against 100 if higher is better, for 105 if
/// lower is. Negative if the value is better.
double loss(double value, double reference, Better better);

/// "18.0 %".
std::string share_text(double share);
/// "18.0 % worse", "1.2 % better".
std::string loss_text(double loss);

/// Two-sided 95 % quantile of Student's t.
double student_95(std::size_t degrees);

/// Standard error of the median of Gaussian values over that of their mean: sqrt(pi/2).
inline constexpr double kMedianOverMean = 1.2533;

/// Run-to-run noise per host, as a standard deviation relative to `median`, moderated towards that
/// of the fleet (weight kPriorRuns), as three runs estimate it badly.
struct Moderated {
  double fleet = 0.0;           // of a typical host
  std::vector<double> of_host;  // in the order given
  std::vector<double> half;     // half-width of the 95 % interval of the median of its runs
};
Moderated moderated_noise(std::span<const std::vector<double>> runs, double median);

}  // namespace bench

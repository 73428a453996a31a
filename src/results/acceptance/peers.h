// Each host against all: the median of the fleet and its median absolute deviation, which one bad
// host in ten leaves as they are. Never mean and standard deviation: those a bad host drags along.
#pragma once

#include <span>
#include <vector>

#include "core/units.h"

namespace bench {

struct PeerScores {
  double median = 0.0;
  double mad = 0.0;       // median of |value - median|
  double sigma = 0.0;     // 1.4826 x mad, or the floor where that is larger
  std::vector<double> z;  // of each value; negative is worse than the median
};

/// `floor`: the least sigma, in the values' unit: equal values of most hosts must not make a
/// difference of one bit an outlier. Better::none is scored as higher.
PeerScores peer_scores(std::span<const double> values, Better better, double floor);

/// By how much the value is worse than the reference, as a share of the reference: 0.05 for 95
/// against 100 where higher is better, and for 105 where lower is. Negative: it is better.
double loss(double value, double reference, Better better);

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

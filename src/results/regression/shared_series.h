// The common movement of all series of a kind, as a series.
#pragma once

#include <string>
#include <vector>

#include "results/regression/candidate.h"

namespace bench {

struct SharedSeries {
  Member member;             // a value a night, without a host, at the level of the median host
  std::vector<double> axis;  // the same on the axis of the first series
};

/// `series` as it is after `movement`, which has a value a night, was taken out of it.
SharedSeries shared_series(const std::vector<Judged>& series, const Nights& nights,
                           const std::vector<double>& movement);

}  // namespace bench

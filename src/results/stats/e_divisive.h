// E-divisive change points as Apache Otava (once Hunter) finds them, as a second opinion. Matteson
// and James 2014 (arXiv 1306.4933) for the statistic; Fleming et al. 2023 (doi
// 10.1145/3578244.3583719) for windows, Student's t and merging.
//
// Not our judge: t is taken at the split that maximises it, from deviations that divide by n, so
// that of null series of 200 correlated values three in four get a change (docs/statistics.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

struct Division {
  double q = 0.0;
  std::size_t at = 0;   // first index of the right side
  std::size_t end = 0;  // ... and one past its last
};

/// Whether the mean distance within a side excludes each value's distance to itself (u, as Otava)
/// or includes it (v, as MongoDB's signal processing): the results differ.
enum class PairMean { u, v };

/// The energy statistic of values[0, at) against values[at, end).
double division_q(std::span<const double> values, std::size_t at, std::size_t end,
                  PairMean mean_of = PairMean::u);

/// The largest q over all at < end; the first of equal ones. At least two values.
Division best_division(std::span<const double> values);

struct OtavaSettings {
  std::size_t window = 50;  // windows overlap by half
  double most_p = 0.001;
  double least_magnitude = 0.0;  // relative change of means, the larger of there and back
};

/// First indices after each change, ascending.
std::vector<std::size_t> otava_changes(std::span<const double> values,
                                       const OtavaSettings& settings = {});

}  // namespace bench

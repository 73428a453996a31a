// E-divisive change points as Apache Otava (once Hunter) finds them, as a second opinion. Matteson
// and James 2014 (arXiv 1306.4933) for the statistic; Fleming et al. 2023 (doi
// 10.1145/3578244.3583719) for windows, Student's t and merging.
//
// Not used for verdicts: t is taken at the split that maximises it, from deviations that divide by
// n, so that three in four series of 200 correlated values without a change get one
// (docs/statistics.md).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bench {

struct Division {
  double q = 0.0;       // energy statistic; means within a side exclude a value's own distance
  std::size_t at = 0;   // first index of the right side
  std::size_t end = 0;  // ... and one past its last
};

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

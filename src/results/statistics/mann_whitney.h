// Mann and Whitney's test: do values of A tend to be larger or smaller than those of B?
#pragma once

#include <span>

namespace bench {

struct RankTest {
  double statistic = 0.0;
  double p = 1.0;  // two-sided
  bool exact = false;
};

/// The statistic is U of a: the pairs in which a is larger, ties counting one half. Exact up to 50
/// values per side, with ties up to 25 (from the actual ranks); beyond that normal with corrections
/// for ties and continuity. p is twice the smaller tail, and 1 if a side is empty.
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// The same by the normal distribution however few they are, as other programs print it: for six
/// values a side its p is twice the exact one.
RankTest mann_whitney_by_normal(std::span<const double> a, std::span<const double> b);

}  // namespace bench

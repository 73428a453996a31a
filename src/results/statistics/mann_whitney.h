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
/// values a side, with ties up to 25 (the distribution of what ranks there are); beyond that normal
/// with corrections for ties and continuity. p is twice the smaller tail. Without a value on a side
/// p is 1.
RankTest mann_whitney(std::span<const double> a, std::span<const double> b);

/// The same by the normal distribution however few they are, as other programs print it: for six
/// values a side its p is twice the exact one.
RankTest mann_whitney_by_normal(std::span<const double> a, std::span<const double> b);

}  // namespace bench

// What two kinds of hardware make of what they have: shares of their limits, work a watt, a GPU and
// a dollar, and what a workload's gain follows.
#pragma once

#include <string>
#include <vector>

#include "results/compare/compare.h"
#include "results/reports/text_style.h"

namespace bench {

/// B over A of all metrics of one kind of resource together, in work: a geometric mean, for where
/// the list stands beside it.
struct ResourceRatio {
  Resource resource = Resource::other;
  std::size_t metrics = 0;
  double ratio = kNoValue;
};

/// Of metrics with a direction and a ratio; in the order of the enumeration.
std::vector<ResourceRatio> resource_ratios(const Comparison& comparison);

/// Which resource a workload's gain is nearest to: "memory". "" where resources gained so much
/// alike that nobody can tell (their nearest two are less than a tenth apart), or none is known.
std::string follows(double ratio, const std::vector<ResourceRatio>& resources);

/// "" unless hardware differs or prices are given.
std::string efficiency_text(const Comparison& comparison, const TextStyle& style);

}  // namespace bench

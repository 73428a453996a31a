// Similarity of the value distributions of two hosts, in location and scatter. From the validator
// of SuperBench (Xiong et al., ATC 2024), in a form that needs no upper limit of the values.
#pragma once

#include <span>

#include "core/units.h"

namespace bench {

enum class CountedArea {
  both,   // any difference
  worse,  // only where the first is worse than the second
};

/// 1 - d(a, b) with d the area between the two distribution functions over the area below the
/// larger survival function, x >= 0: 1 for equal ones; about 1 - s for values that all differ by
/// the share s. Values must be sorted and not negative; 0 if a side is empty.
/// `better` says which direction `CountedArea::worse` is; Better::none counts as higher.
double similarity(std::span<const double> a, std::span<const double> b,
                  CountedArea side = CountedArea::both, Better better = Better::higher);

}  // namespace bench

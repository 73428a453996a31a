// A foretold stall alongside the measured one.
#pragma once

#include <string>

namespace bench::data {

/// Samples per second of the loader without steps, before the steps and after them.
struct RatesAround {
  double before = 0.0, after = 0.0;

  /// How far the second is from the first, as a share of it.
  double drift() const;
};

struct StallComparison {
  bool conclusive = false;  // the loader was the same all the while
  double error = 0.0;       // absolute
  std::string reason = {};  // why nothing is concluded
};

/// With a drift of more than 5 % the host was another one meanwhile, and nothing is concluded; so
/// it is where a rate is unknown (NaN).
StallComparison compare_stalls(double predicted, double measured, const RatesAround& rates);

}  // namespace bench::data

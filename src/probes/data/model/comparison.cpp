#include "probes/data/model/comparison.h"

#include <fmt/format.h>

#include <cmath>

namespace bench::data {
namespace {

constexpr double kMostDrift = 0.05;

}  // namespace

double RatesAround::drift() const { return std::abs(after / before - 1.0); }

StallComparison compare_stalls(double predicted, double measured, const RatesAround& rates) {
  StallComparison found;
  found.error = std::abs(predicted - measured);
  found.conclusive = rates.drift() <= kMostDrift;
  if (!found.conclusive)
    found.reason = fmt::format(
        "inconclusive: without steps the loader reached {:.4g} samples/s before and {:.4g} after; "
        "rerun on an idle host, or increase time_s",
        rates.before, rates.after);
  return found;
}

}  // namespace bench::data

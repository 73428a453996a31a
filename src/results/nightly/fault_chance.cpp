#include "results/nightly/fault_chance.h"

#include <algorithm>
#include <cmath>

namespace bench {

double fault_chance(const FaultPrior& prior, const FaultPast& past) {
  const auto found = static_cast<double>(past.found);
  const double share = (prior.found + found) / (prior.checked + static_cast<double>(past.checked));
  const double missed = std::min(1.0, share * (1.0 + static_cast<double>(past.incidents)));
  const double mtbf_s = (prior.mtbf_s + past.watched_s) / (1.0 + found);
  return 1.0 - (1.0 - missed) * std::exp(-past.age_s / mtbf_s);
}

double detection_probability(double assumed, std::size_t shown, std::size_t confirmed) {
  constexpr double kWeight = 2.0;
  return (static_cast<double>(shown) + assumed * kWeight) /
         (static_cast<double>(confirmed) + kWeight);
}

}  // namespace bench

#include "results/fleet/golden_bound.h"

#include <algorithm>
#include <cmath>

#include "results/statistics/distributions.h"

namespace bench {
namespace {

/// host_noise is a robust sigma, with the efficiency of 0.37 n hosts.
constexpr double kMadEfficiency = 0.37;

/// Loss of the worst of so many healthy hosts, given host_noise.
double chance_of(const Criterion& criterion, const GoldenTest& test) {
  if (!std::isfinite(criterion.host_noise)) return 0.0;
  const double level = test.level / static_cast<double>(std::max<std::size_t>(1, test.tests));
  // A hand-written profile has no number of hosts and is trusted.
  if (criterion.hosts < 2) return -normal_quantile(level) * criterion.host_noise;
  const double taught = static_cast<double>(criterion.hosts - 1);
  return -student_quantile(level, std::max(1.0, kMadEfficiency * taught)) * criterion.host_noise;
}

}  // namespace

double golden_allowed(const Criterion& criterion, double threshold) {
  return std::max(1.0 - criterion.alpha, threshold);
}

bool is_below_golden(const Criterion& criterion, const GoldenTest& test, double loss, double half) {
  const double known = std::isfinite(half) ? half : 0.0;
  return loss - known > golden_allowed(criterion, test.threshold) &&
         loss > chance_of(criterion, test);
}

}  // namespace bench

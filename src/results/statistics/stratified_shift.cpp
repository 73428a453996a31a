#include "results/statistics/stratified_shift.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "results/statistics/distributions.h"
#include "results/statistics/mann_whitney.h"
#include "results/statistics/rank_distributions.h"

namespace bench {
namespace {

constexpr double kTail = 0.025;
constexpr std::size_t kExactStratum = 50;

/// Distribution of the sum of two independent counts.
std::vector<double> convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sum(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sum[i + j] += a[i] * b[j];
  return sum;
}

std::vector<double> mass_of(const std::vector<double>& cdf) {
  std::vector<double> mass(cdf.size());
  std::adjacent_difference(cdf.begin(), cdf.end(), mass.begin());
  return mass;
}

std::vector<double> cdf_of_sum(std::span<const Stratum> strata) {
  std::vector<double> mass = {1.0};
  for (const Stratum& stratum : strata)
    mass = convolved(mass, mass_of(mann_whitney_cdf(stratum.a.size(), stratum.b.size())));
  std::partial_sum(mass.begin(), mass.end(), mass.begin());
  return mass;
}

double variance_of_sum(std::span<const Stratum> strata) {
  double sum = 0.0;
  for (const Stratum& stratum : strata) {
    const auto n = static_cast<double>(stratum.a.size()), m = static_cast<double>(stratum.b.size());
    sum += n * m * (n + m + 1.0) / 12.0;
  }
  return sum;
}

/// Distance of the count of positive differences from its centre; a tie counts one half.
double distance_from_middle(const std::vector<double>& differences) {
  double above = 0.0;
  for (const double d : differences) above += d > 0.0 ? 1.0 : d == 0.0 ? 0.5 : 0.0;
  return std::abs(above - 0.5 * static_cast<double>(differences.size()));
}

}  // namespace

StratifiedShift stratified_shift(std::span<const Stratum> strata) {
  if (strata.size() == 1)
    return {hodges_lehmann(strata[0].a, strata[0].b), mann_whitney(strata[0].a, strata[0].b).p};
  std::vector<double> differences;
  std::size_t largest = 0;
  for (const Stratum& stratum : strata) {
    largest = std::max({largest, stratum.a.size(), stratum.b.size()});
    for (const double y : stratum.b)
      for (const double x : stratum.a) differences.push_back(y - x);
  }
  if (differences.empty()) return {};
  const double distance = distance_from_middle(differences);
  StratifiedShift found;
  if (largest <= kExactStratum) {
    const auto cdf = cdf_of_sum(strata);
    const double below = 0.5 * static_cast<double>(differences.size()) - distance;
    found.p = std::min(1.0, 2.0 * cdf[static_cast<std::size_t>(std::ceil(below))]);
    found.shift = shift_of(std::move(differences), cdf, kTail);
  } else {
    const double deviation = std::sqrt(variance_of_sum(strata));
    found.p = std::min(1.0, 2.0 * normal_cdf(-std::max(0.0, distance - 0.5) / deviation));
    found.shift = shift_of_normal(std::move(differences), deviation, kTail);
  }
  return found;
}

}  // namespace bench

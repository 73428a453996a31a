#include "results/stats/variation.h"

#include <cmath>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

constexpr double kCostOfTrimming = 1.1;
constexpr double kLeastRuns = 3.0;

/// One end of Vangel's interval of cv = k, from the quantile u of chi^2 with n - 1 degrees.
double vangel(double k, double u, double n) {
  const double square = ((u + 2.0) / n - 1.0) * k * k + u / (n - 1.0);
  return square > 0.0 ? k / std::sqrt(square) : kNoValue;
}

}  // namespace

double chi_square_quantile(double degrees, double p) {
  return 2.0 * poisson_upper(0.5 * degrees - 1.0, p);
}

double runs_needed(double cv) {
  if (!std::isfinite(cv)) return kNoValue;
  const double exact = kCostOfTrimming * cv / kGoodStandardError;
  return std::fmax(kLeastRuns, std::ceil(exact * exact - 1e-9));
}

Variation variation(std::span<const double> values) {
  std::vector<double> known;
  for (const double value : values)
    if (std::isfinite(value)) known.push_back(value);
  Variation result;
  result.n = known.size();
  result.mean = mean(known);
  if (result.n < 2 || !(result.mean > 0.0)) return result;
  const auto n = static_cast<double>(result.n);
  result.cv = standard_deviation(known) / result.mean;
  result.low = vangel(result.cv, chi_square_quantile(n - 1.0, 0.975), n);
  result.high = vangel(result.cv, chi_square_quantile(n - 1.0, 0.025), n);
  result.runs_needed = runs_needed(result.cv);
  result.runs_needed_low = runs_needed(result.low);
  result.runs_needed_high = runs_needed(result.high);
  return result;
}

}  // namespace bench

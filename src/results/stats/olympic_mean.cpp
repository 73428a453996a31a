#include "results/stats/olympic_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/peers.h"

namespace bench {
namespace {

constexpr std::size_t kLeastToTrim = 3;
constexpr std::size_t kAllowedWithout = 1;

std::vector<double> ascending(std::span<const double> values) {
  std::vector<double> sorted;
  for (const double value : values) sorted.push_back(std::isfinite(value) ? value : HUGE_VAL);
  std::ranges::sort(sorted);
  return sorted;
}

std::string void_reason(const OlympicMean& result) {
  if (result.runs == 0) return "no runs";
  if (result.without > kAllowedWithout)
    return fmt::format("void: {} of {} runs missed the target, one is allowed", result.without,
                       result.runs);
  if (result.without > 0 && result.runs < kLeastToTrim)
    return fmt::format(
        "void: {} of {} runs missed the target; one miss is allowed with three or more runs",
        result.without, result.runs);
  return "";
}

/// `deviation`: the standard deviation of all runs, with the dropped ones replaced by their
/// neighbours.
void set_interval(OlympicMean& result, double deviation) {
  const auto runs = static_cast<double>(result.runs), kept = static_cast<double>(result.kept);
  result.standard_error = deviation * std::sqrt((runs - 1.0) / (kept * (kept - 1.0)));
  const double half = student_95(result.kept - 1) * result.standard_error;
  result.low = result.mean - half;
  result.high = result.mean + half;
}

}  // namespace

OlympicMean olympic_mean(std::span<const double> values) {
  std::vector<double> sorted = ascending(values);
  OlympicMean result;
  result.runs = sorted.size();
  result.without =
      static_cast<std::size_t>(sorted.end() - std::ranges::lower_bound(sorted, HUGE_VAL));
  result.why = void_reason(result);
  if (!result.why.empty()) return result;
  result.trimmed = result.runs >= kLeastToTrim;
  if (result.trimmed) {
    sorted.front() = sorted[1];
    sorted.back() = sorted[sorted.size() - 2];
  }
  const std::size_t dropped = result.trimmed ? 1 : 0;
  const std::span<const double> kept(sorted.data() + dropped, sorted.size() - 2 * dropped);
  result.kept = kept.size();
  result.mean = mean(kept);
  if (result.kept >= 2)
    set_interval(result, standard_deviation(sorted));
  else
    result.why =
        result.trimmed
            ? "no confidence interval: three runs leave one after trimming, four are needed"
            : "no confidence interval: one run gives no run-to-run variation";
  return result;
}

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

#include "results/acceptance/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/order_statistics.h"
#include "results/statistics/mad_to_sigma.h"

namespace bench {
namespace {

constexpr double kPriorRuns = 4.0;
constexpr double kMedianOverMean =
    1.2533;  // standard error of a median of Gaussian values, sqrt(pi/2)

double median_deviation(std::span<const double> values, double centre) {
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - centre));
  return median(deviations);
}

double variance(const std::vector<double>& values, double median) {
  if (values.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double relative = standard_deviation(values) / median;
  return relative * relative;
}

/// The median of a chi-squared variable over its degrees (Wilson and Hilferty).
double chi_squared_median(double degrees) { return std::pow(1.0 - 2.0 / (9.0 * degrees), 3.0); }

/// Typical variance: the median over hosts, so that one noisy host does not raise it.
double typical(std::span<const std::vector<double>> runs, double centre) {
  std::vector<double> variances;
  double degrees = 0.0;
  for (const auto& values : runs)
    if (values.size() > 1) {
      variances.push_back(variance(values, centre));
      degrees += static_cast<double>(values.size() - 1);
    }
  if (variances.empty()) return std::numeric_limits<double>::quiet_NaN();
  return median(variances) / chi_squared_median(degrees / static_cast<double>(variances.size()));
}

}  // namespace

double robust_sigma(std::span<const double> values) {
  return kMadToSigma * median_deviation(values, median(values));
}

PeerScores peer_scores(std::span<const double> values, Better better, double floor) {
  PeerScores scores;
  scores.median = median(values);
  scores.mad = median_deviation(values, scores.median);
  scores.sigma = std::max(kMadToSigma * scores.mad, floor);
  const double direction = better == Better::lower ? -1.0 : 1.0;
  std::vector<double> distances;
  for (const double value : values) {
    distances.push_back(direction * (value - scores.median));
    scores.z.push_back(distances.back() == 0.0 ? 0.0 : distances.back() / scores.sigma);
  }
  scores.levels = low_outlier_levels(distances, floor);
  return scores;
}

bool stands_out(const PeerScores& scores, std::size_t i, double loss, double chance, double level) {
  constexpr double kLoss = 0.75, kDistance = -4.31;
  const bool beyond_doubt =
      scores.z.size() >= kFewestPeers && loss >= kLoss && scores.z[i] <= kDistance;
  return chance <= level || beyond_doubt;
}

double loss(double value, double reference, Better better) {
  const double share = value / reference - 1.0;
  return better == Better::lower ? share : -share;
}

std::string loss_text(double loss) {
  return fmt::format("{:.1f} % {}", 100.0 * std::abs(loss), loss < 0.0 ? "better" : "worse");
}

double student_95(std::size_t degrees) {
  constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  if (degrees == 0) return std::numeric_limits<double>::infinity();
  return degrees <= kTable.size() ? kTable[degrees - 1] : 2.0;
}

Moderated moderated_noise(std::span<const std::vector<double>> runs, double centre) {
  const double fleet = typical(runs, centre);
  Moderated noise{std::sqrt(fleet), {}, {}};
  for (const auto& values : runs) {
    const double own = variance(values, centre);
    const double degrees = std::max(0.0, static_cast<double>(values.size()) - 1.0);
    const double mixed =
        std::isnan(own) ? fleet : (kPriorRuns * fleet + degrees * own) / (kPriorRuns + degrees);
    noise.of_host.push_back(std::isnan(own) ? own : std::sqrt(own));
    const auto all = static_cast<std::size_t>(kPriorRuns + degrees);
    noise.half.push_back(values.empty() ? std::numeric_limits<double>::quiet_NaN()
                                        : student_95(all) * kMedianOverMean * std::sqrt(mixed) /
                                              std::sqrt(static_cast<double>(values.size())));
  }
  return noise;
}

}  // namespace bench

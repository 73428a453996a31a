#include "results/stats/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

// From simulation: with these, at a level of 1 % the chance of any false outlier among few healthy
// values is 1 %.
constexpr double kFew = 32.0, kRaiseOfFew = 1.25, kRaise = 1.1;
// From this many values on, suspects are compared with the values left without suspects.
constexpr std::size_t kMany = 100;
constexpr double kSuspectLevel = 0.05;

/// Sorted values [from, to).
struct Stretch {
  std::size_t from = 0, to = 0;
  double size() const { return static_cast<double>(to - from); }
};

class SortedValues {
 public:
  SortedValues(std::vector<double> sorted, double least_sd)
      : sorted_(std::move(sorted)), centre_(sorted_[sorted_.size() / 2]), least_sd_(least_sd) {
    for (const double value : sorted_) {
      const long double distance = value - centre_;
      sums_.push_back(sums_.back() + distance);
      squares_.push_back(squares_.back() + distance * distance);
    }
  }

  /// Whether the value farthest from the mean of the stretch is its first.
  bool lowest_is_farthest(const Stretch& stretch) const {
    const double middle = mean(stretch);
    return middle - sorted_[stretch.from] >= sorted_[stretch.to - 1] - middle;
  }

  /// One-sided chance that another value from the rest's distribution is this extreme.
  double chance(std::size_t place, const Stretch& rest) const {
    const double distance = std::abs(sorted_[place] - mean(rest));
    const double t =
        distance / (std::max(deviation(rest), least_sd_) * std::sqrt(1.0 + 1.0 / rest.size()));
    return student_cdf(-t, rest.size() - 1.0);
  }

 private:
  double mean(const Stretch& stretch) const {
    return centre_ + static_cast<double>(sum(stretch) / stretch.size());
  }

  double deviation(const Stretch& stretch) const {
    const long double about_centre = squares_[stretch.to] - squares_[stretch.from];
    const auto about_mean =
        static_cast<double>(about_centre - sum(stretch) * sum(stretch) / stretch.size());
    return std::sqrt(std::max(0.0, about_mean / (stretch.size() - 1.0)));
  }

  long double sum(const Stretch& stretch) const { return sums_[stretch.to] - sums_[stretch.from]; }

  std::vector<double> sorted_;
  double centre_, least_sd_;
  std::vector<long double> sums_ = {0.0L}, squares_ = {0.0L};
};

struct Taken {
  std::size_t place = 0;
  bool low = false;
  double level = 1.0;  // the level of this value, before those of later ones
  Stretch rest;
};

std::vector<Taken> take_extremes(const SortedValues& values, std::size_t count) {
  const auto all = static_cast<double>(count);
  const double raise = all < kFew ? kRaiseOfFew : kRaise;
  const double raise_of_later = raise * std::max(1.0, std::pow(kFew / all, 2.0));
  std::vector<Taken> taken;
  Stretch left{0, count};
  while (taken.size() < (count - 1) / 2) {
    Taken one;
    one.low = values.lowest_is_farthest(left);
    one.place = one.low ? left.from++ : --left.to;
    one.rest = left;
    one.level = (taken.empty() ? raise : raise_of_later) * (left.size() + 1.0) *
                values.chance(one.place, left);
    taken.push_back(one);
  }
  return taken;
}

/// How many were taken until the last suspect; a quarter of the values at most.
std::size_t suspects(const std::vector<Taken>& taken, std::size_t count) {
  if (count < kMany) return 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < count / 4; ++i)
    if (taken[i].level <= kSuspectLevel) last = i + 1;
  return last;
}

}  // namespace

std::vector<double> low_outlier_levels(std::span<const double> values, double least_sd) {
  std::vector<double> levels(values.size(), 1.0);
  if (values.size() < kFewestForOutliers) return levels;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> sorted;
  for (const std::size_t i : order) sorted.push_back(values[i]);
  const SortedValues all(std::move(sorted), least_sd);
  const std::vector<Taken> taken = take_extremes(all, values.size());
  const std::size_t suspected = suspects(taken, values.size());
  double least = 1.0;
  for (std::size_t i = taken.size(); i > 0; --i) {
    const Taken& one = taken[i - 1];
    least = std::min(least, one.level);
    if (!one.low) continue;
    double& level = levels[order[one.place]];
    level = least;
    if (i > suspected) continue;
    const Stretch& rest = taken[suspected - 1].rest;
    level = std::min(level, kRaise * (rest.size() + 1.0) * all.chance(one.place, rest));
  }
  return levels;
}

namespace {

constexpr double kPriorRuns = 4.0;

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

std::string share_text(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

std::string loss_text(double loss) {
  return share_text(std::abs(loss)) + (loss < 0.0 ? " better" : " worse");
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

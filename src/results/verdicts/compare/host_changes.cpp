#include "results/verdicts/compare/host_changes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/peers.h"
#include "results/stats/prediction.h"

namespace bench {
namespace {

constexpr double kLevelOfHosts = 0.05;
constexpr std::size_t kFewestComparedHosts = 6;  // fewer do not determine their own scatter
constexpr double kFewestDegreesOfRuns = 4.0;
constexpr double kManyDegrees = 1e6;
constexpr double kMostTailDegrees = 8.0;

/// A standard error with its degrees of freedom.
struct Uncertainty {
  double error = kNoValue;
  double degrees = kManyDegrees;
  double p(double distance) const {
    return distance == 0.0 ? 1.0 : 2.0 * student_cdf(-std::abs(distance) / error, degrees);
  }
};

std::vector<double> ys(const std::vector<Scaled>& values) {
  std::vector<double> found;
  for (const Scaled& value : values) found.push_back(value.y);
  return found;
}

/// Variance of a median of n values over the variance of one.
double share_of_median(std::size_t n) {
  return (n < 3 ? 1.0 : std::numbers::pi / 2.0) / static_cast<double>(n);
}

class UnitShifts {
 public:
  UnitShifts(const ScaledUnits& a, const ScaledUnits& b, const KnownNoise& noise) : noise_(noise) {
    for (const auto& [unit, values] : a)
      if (const auto other = b.find(unit); other != b.end()) add(unit, values, other->second);
    const double pooled = degrees_ > 0.0 ? std::sqrt(squares_ / degrees_) : kNoValue;
    runs_ = {std::fmax(pooled, noise.floor), degrees_};
    if (degrees_ < kFewestDegreesOfRuns) runs_ = {noise.deviation, noise.degrees};
  }

  std::vector<UnitShift> found() {
    if (found_.size() < 2) return {};
    if (found_.size() >= kFewestComparedHosts)
      judge_by_peers();
    else
      judge_by_runs();
    return std::move(found_);
  }

 private:
  void add(const UnitOfHost& unit, const std::vector<Scaled>& a, const std::vector<Scaled>& b) {
    const std::vector<double> of_a = ys(a), of_b = ys(b);
    found_.push_back({unit, {.estimate = median(of_b) - median(of_a)}});
    shares_.push_back(share_of_median(a.size()) + share_of_median(b.size()));
    errors_.push_back(a.size() + b.size() == 2 ? std::hypot(a[0].error, b[0].error) : kNoValue);
    for (const auto* side : {&of_a, &of_b}) {
      if (side->size() < 2) continue;
      const double deviation = standard_deviation(*side);
      squares_ += deviation * deviation * static_cast<double>(side->size() - 1);
      degrees_ += static_cast<double>(side->size() - 1);
    }
  }

  /// Of the shift of unit i, by the variation of runs; without one, by the samples of its runs.
  Uncertainty by_runs(std::size_t i) const {
    if (!std::isfinite(runs_.error)) return {errors_[i]};
    return {runs_.error * std::sqrt(shares_[i]), runs_.degrees};
  }

  double over_units(double p) const {
    return std::min(1.0, p * static_cast<double>(found_.size()));
  }

  void set_interval(Shift& shift, const Uncertainty& uncertainty) const {
    const double tail = 0.5 * kLevelOfHosts / static_cast<double>(found_.size());
    const double half = student_quantile(1.0 - tail, uncertainty.degrees) * uncertainty.error;
    shift.low = shift.estimate - half;
    shift.high = shift.estimate + half;
    shift.confidence = 1.0 - kLevelOfHosts;
  }

  void judge_by_runs() {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const Uncertainty uncertainty = by_runs(i);
      if (!std::isfinite(uncertainty.error)) continue;
      found_[i].p = over_units(uncertainty.p(found_[i].shift.estimate));
      set_interval(found_[i].shift, uncertainty);
    }
  }

  void judge_by_peers() {
    std::vector<double> shifts, mirrored;
    for (const UnitShift& one : found_) shifts.push_back(one.shift.estimate);
    for (const double shift : shifts) mirrored.push_back(-shift);
    const double floor = std::max(noise_.floor * std::numbers::sqrt2, 1e-12);
    const auto low = low_outlier_levels(shifts, floor), high = low_outlier_levels(mirrored, floor);
    for (std::size_t i = 0; i < shifts.size(); ++i)
      found_[i].p = std::min(1.0, 2.0 * std::min(low[i], high[i]));
    const Uncertainty scatter = scatter_of_others(floor);
    for (std::size_t i = 0; i < shifts.size(); ++i) {
      const Uncertainty peers{scatter.error, std::min(scatter.degrees, tail_without(i, shifts))};
      const double distance = shifts[i] - median(shifts);
      found_[i].p = std::max(found_[i].p, over_units(peers.p(distance)));
      const Uncertainty runs = by_runs(i);
      if (std::isfinite(runs_.error))
        found_[i].p = std::max(found_[i].p, over_units(runs.p(distance)));
      set_interval(found_[i].shift, runs.error > peers.error ? runs : peers);
    }
  }

  /// Degrees of Student's t with tails as heavy as those of the other units. Few units do not show
  /// their tails, which are taken to be heavier than normal.
  static double tail_without(std::size_t unit, std::vector<double> shifts) {
    shifts.erase(shifts.begin() + static_cast<std::ptrdiff_t>(unit));
    TailMoments tails;
    tails.add(shifts, true);
    tails.add(shifts, false);
    return tails.count > 0.0 ? std::min(kMostTailDegrees, tails.degrees()) : kMostTailDegrees;
  }

  /// Of one more unit like those that do not stand out.
  Uncertainty scatter_of_others(double floor) const {
    std::vector<double> usual;
    for (const UnitShift& one : found_)
      if (one.p > kLevelOfHosts) usual.push_back(one.shift.estimate);
    if (usual.size() < 2) return {};
    const auto n = static_cast<double>(usual.size());
    return {std::max(standard_deviation(usual), floor) * std::sqrt(1.0 + 1.0 / n), n - 1.0};
  }

  const KnownNoise& noise_;
  std::vector<UnitShift> found_;
  std::vector<double> shares_, errors_;  // variance of a shift over that of a run; by samples
  double squares_ = 0.0, degrees_ = 0.0;
  Uncertainty runs_;  // of a single run
};

}  // namespace

std::vector<UnitShift> unit_shifts(const ScaledUnits& a, const ScaledUnits& b,
                                   const KnownNoise& noise) {
  return UnitShifts(a, b, noise).found();
}

}  // namespace bench

#include "results/verdicts/regression/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/order_statistics.h"
#include "results/stats/hodges_lehmann.h"
#include "results/stats/rank_tests.h"
#include "results/verdicts/regression/peer_group.h"

namespace bench {
namespace {

constexpr std::size_t kFewestValues = 20;  // of the level that a series is judged on
constexpr std::size_t kBlock = 5;          // nights that stay together when a series is shuffled
constexpr std::size_t kSameNight = 3;
constexpr double kZ95 = 1.959963984540054;

constexpr std::array<double, 3> kRateLevels = {0.05, 0.01, 0.001};
constexpr std::array<double, 5> kLosses = {0.01, 0.02, 0.03, 0.05, 0.10};
constexpr std::array<std::size_t, 5> kAfterNights = {1, 3, 5, 7, 14};

enum Rates : std::size_t {
  newest_5,
  newest_1,
  newest_01,
  random_split,
  time_split,
  verdict,
  steps
};

/// Wilson's interval of a share; `side` -1 or 1.
double wilson(double share, double n, double side) {
  if (!(n > 0.0)) return kNoValue;
  const double square = kZ95 * kZ95;
  const double half = kZ95 * std::sqrt(share * (1.0 - share) / n + square / (4.0 * n * n));
  return (share + square / (2.0 * n) + side * half) / (1.0 + square / n);
}

std::vector<double> shuffled_blocks(std::span<const double> level, std::mt19937_64& random) {
  std::vector<std::size_t> blocks;
  for (std::size_t i = 0; i < level.size(); i += kBlock) blocks.push_back(i);
  std::ranges::shuffle(blocks, random);
  std::vector<double> result;
  for (const std::size_t begin : blocks)
    for (std::size_t i = begin; i < std::min(begin + kBlock, level.size()); ++i)
      result.push_back(level[i]);
  return result;
}

}  // namespace

double CalibrationRate::low() const { return wilson(observed(), static_cast<double>(tests), -1.0); }
double CalibrationRate::high() const { return wilson(observed(), static_cast<double>(tests), 1.0); }

Calibrator::Calibrator(const RegressionOptions& options, std::uint64_t seed, std::size_t most)
    : options_(options), random_(seed), most_(most) {
  for (const double level : kRateLevels)
    result_.rates.push_back({"each night vs. earlier nights", level});
  result_.rates.push_back({"random halves of the nights, Mann-Whitney", 0.05});
  result_.rates.push_back({"earlier vs. later half, Mann-Whitney", 0.05});
  result_.rates.push_back({"random halves judged regressed or improved", 0.025});
  result_.rates.push_back({"step found in a series with shuffled weeks", 0.005});
  for (const double loss : kLosses)
    for (const std::size_t nights : kAfterNights) result_.power.push_back({loss, nights});
}

void Calibrator::add(const std::vector<Member>& members) {
  const SettledGroup group = settled(members, options_);
  std::vector<std::size_t> order(group.histories.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::shuffle(order, random_);
  order.resize(std::min(order.size(), most_));
  for (const std::size_t i : order) rate(group.histories[i], group, group.thresholds[i]);
}

/// Rates false alarms on the last level of a series, where no change is known.
void Calibrator::rate(const LevelHistory& history, const SettledGroup& group,
                      const Thresholds& thresholds) {
  const std::span<const double> level =
      std::span(history.values).subspan(history.segments.begins.back());
  if (level.size() < kFewestValues) return;
  // Any change of a constant is found at once, which says nothing about measurements.
  if (std::ranges::minmax(level).min == std::ranges::minmax(level).max) {
    ++result_.constant;
    return;
  }
  ++result_.series;
  sigmas_.push_back(history.sigma);
  correlations_.push_back(history.correlation);
  for (std::size_t t = kFewestNights; t < level.size(); ++t) {
    const std::size_t from = t > kMostNights ? t - kMostNights : 0;
    const double p = predicted(level.subspan(from, t - from), level[t], group.prior).below;
    for (std::size_t i = 0; i < kRateLevels.size(); ++i) {
      ++result_.rates[i].tests;
      result_.rates[i].alarms += p <= kRateLevels[i];
    }
  }
  split(level, thresholds);
  const auto shuffled = shuffled_blocks(level, random_);
  ++result_.rates[steps].tests;
  result_.rates[steps].alarms +=
      segments_of(steps_, shuffled, history.sigma, history.inflation, thresholds).begins.size() > 1;
  find_losses({level.begin(), level.end()}, history, group, thresholds);
}

void Calibrator::split(std::span<const double> level, const Thresholds& thresholds) {
  const auto halves = [&](std::span<const double> values, CalibrationRate& rate) {
    const auto a = values.first(values.size() / 2), b = values.subspan(values.size() / 2);
    ++rate.tests;
    rate.alarms += mann_whitney(a, b).p <= 0.05;
    return hodges_lehmann(a, b);
  };
  halves(level, result_.rates[time_split]);
  std::vector<double> mixed(level.begin(), level.end());
  std::ranges::shuffle(mixed, random_);
  const Shift shift = halves(mixed, result_.rates[random_split]);
  ++result_.rates[verdict].tests;
  result_.rates[verdict].alarms += shift.low > thresholds.up || shift.high < -thresholds.down;
}

/// Applies the loss to the last nights, one more night at a time, as they would have arrived.
void Calibrator::find_losses(std::vector<double> level, const LevelHistory& history,
                             const SettledGroup& group, const Thresholds& thresholds) {
  for (const double loss : kLosses) {
    std::vector<double> lost = level;
    const std::size_t most = kAfterNights.back();
    if (level.size() < most + kFewestNights + 1) return;
    // As if the last `most` nights were the first after the change.
    const std::size_t change = lost.size() - most;
    for (std::size_t i = change; i < lost.size(); ++i) lost[i] += std::log1p(-loss);
    bool found = false;
    for (std::size_t nights = 1; nights <= most; ++nights) {
      LevelHistory seen{
          .values = {lost.begin(), lost.begin() + static_cast<std::ptrdiff_t>(change + nights)}};
      seen.segments =
          segments_of(steps_, seen.values, history.sigma, history.inflation, thresholds);
      const auto newest = newest_of(seen, group.prior, 0.0);
      found = found || (newest && newest->shift < -thresholds.down && newest->p <= options_.most_p);
      for (const std::size_t begin : seen.segments.begins)
        found =
            found || (begin > 0 && begin + kSameNight >= change && begin <= change + kSameNight);
      for (CalibrationPower& power : result_.power) {
        if (power.loss != loss || power.nights != nights) continue;
        ++power.tests;
        power.found += found;
      }
    }
  }
}

Calibration Calibrator::result() const {
  Calibration result = result_;
  result.sigma = median(sigmas_);
  result.correlation = median(correlations_);
  for (const Decision& decision : options_.decisions) {
    if (decision.state == FindingState::open) continue;
    ++result.decided;
    result.called_noise += decision.state == FindingState::noise;
  }
  return result;
}

Calibration calibration_report(const Histories& histories, const RegressionOptions& options,
                               std::uint64_t seed) {
  Calibrator calibrator(options, seed);
  each_group(histories, options,
             [&](const std::vector<Member>& members) { calibrator.add(members); });
  return calibrator.result();
}

}  // namespace bench

#include "results/verdicts/regression/level_history.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/hodges_lehmann.h"
#include "results/stats/rank_scan.h"
#include "results/stats/series_noise.h"
#include "results/stats/step_test.h"

namespace bench {
namespace {

void set_levels(Segments& segments, std::span<const double> values) {
  segments.levels.clear();
  for (std::size_t i = 0; i < segments.begins.size(); ++i)
    segments.levels.push_back(median(
        values.subspan(segments.begins[i], segments.end(i, values.size()) - segments.begins[i])));
}

/// The change at the beginning of segment i, in thresholds; below one it does not count, nor does
/// one of a segment that is too short.
double weight(const Segments& segments, std::size_t i, std::size_t n, const Thresholds& at_least) {
  const double distance = segments.levels[i] - segments.levels[i - 1];
  const double weight = distance > 0.0 ? distance / at_least.up : -distance / at_least.down;
  const auto length = [&](std::size_t j) { return segments.end(j, n) - segments.begins[j]; };
  const bool too_short = length(i) < kShortestLevel || length(i - 1) < kShortestLevel;
  // Segments that are too short are joined first, to the nearer side.
  return too_short ? -1.0 / (1e-12 + std::abs(distance)) : weight;
}

}  // namespace

Segments segments_of(L1Segmentation& steps, std::span<const double> values, double sigma,
                     double inflation, const Thresholds& thresholds) {
  Segments segments;
  if (sigma > 0.0)
    for (const std::size_t at :
         steps.boundaries(values, l1_penalty(sigma, values.size(), inflation)))
      segments.begins.push_back(at);
  set_levels(segments, values);
  while (segments.begins.size() > 1) {
    std::size_t least = 1;
    const auto weight_at = [&](std::size_t i) {
      return weight(segments, i, values.size(), thresholds);
    };
    for (std::size_t i = 2; i < segments.begins.size(); ++i)
      if (weight_at(i) < weight_at(least)) least = i;
    if (weight_at(least) > 1.0) break;
    segments.begins.erase(segments.begins.begin() + static_cast<std::ptrdiff_t>(least));
    set_levels(segments, values);
  }
  return segments;
}

double rise_of_line(std::span<const double> values, const Segments& segments, double penalty) {
  const std::size_t steps = segments.begins.size() - 1;
  if (steps < 2) return 0.0;
  const bool rising = segments.levels[1] > segments.levels[0];
  double cost = penalty * static_cast<double>(steps);
  for (std::size_t i = 0; i < segments.begins.size(); ++i) {
    if (i > 0 && (segments.levels[i] > segments.levels[i - 1]) != rising) return 0.0;
    cost += l1_cost(
        values.subspan(segments.begins[i], segments.end(i, values.size()) - segments.begins[i]));
  }
  const double slope = trend(values).slope;
  std::vector<double> rest(values.begin(), values.end());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= slope * static_cast<double>(i);
  return l1_cost(rest) + penalty < cost ? slope * static_cast<double>(values.size() - 1) : 0.0;
}

namespace {

constexpr std::size_t kRecent = 14;  // values: a change that went away before is forgotten
constexpr std::size_t kFewestForDrift = 30;
constexpr double kDriftLevel = 0.001;
// Thirty values do not show how far their noise reaches; a series without peers is held to have
// tails as heavy as these.
constexpr double kAloneDegrees = 4.5;
constexpr double kRare = 0.01;  // chances above this need no closer test
constexpr double kStandsOut = 2.0;
constexpr std::size_t kOneIn = 500;
constexpr double kWild = 3.0;
constexpr double kClearStep = 0.0025;  // no finding of a single step has a larger p
constexpr std::size_t kSamePlace =
    3;  // two methods that differ by at most this found the same change

double variance_of(std::span<const double> values) {
  const double deviation = standard_deviation(values);
  return deviation * deviation;
}

/// Pooled variance of two levels.
double pooled_variance(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  return ((n - 1.0) * variance_of(a) + (m - 1.0) * variance_of(b)) / (n + m - 2.0);
}

/// Student's t of two means, for the best of all places: Bonferroni.
double change_p(const LevelHistory& history, std::span<const double> before,
                std::span<const double> after, const NoisePrior& prior) {
  const auto n = static_cast<double>(before.size()), m = static_cast<double>(after.size());
  const double degrees = n + m - 2.0 + prior.variance.degrees;
  // Many series know their correlation better than the differences of one.
  const double inflation = prior.pooled ? variance_inflation(history.phi) : history.inflation;
  const double variance =
      moderated_variance(prior.variance, pooled_variance(before, after), n + m - 2.0) * inflation *
      (1.0 / n + 1.0 / m);
  if (!(variance > 0.0)) return 0.0;
  const double t = std::abs(mean(after) - mean(before)) / std::sqrt(variance);
  return std::min(1.0, static_cast<double>(history.values.size()) * 2.0 * student_cdf(-t, degrees));
}

constexpr double kShareOfRecent = 0.8;  // of the level of false alarms, for recent places

/// Where among the last `count` values, and with how many others before it, a step is looked for.
struct RecentPlaces {
  std::size_t first = 0, last = 0;  // none if last < first
};
RecentPlaces recent_places(std::size_t count) {
  return {std::max(kFewestNights, count - std::min(count, kRecent)), count - kShortestLevel};
}

/// Only recent places are tested by least squares; every change is recent once.
double over_recent_places(double p, std::size_t count, double correlation) {
  const RecentPlaces places = recent_places(count);
  return std::min(1.0,
                  over_places(p, count, places.first, places.last, correlation) / kShareOfRecent);
}

/// Values farther than three robust sigmas from the median of their level count as that far: a wild
/// night is no step.
std::vector<double> without_wild_nights(std::span<const double> values, std::size_t at) {
  std::vector<double> tame(values.begin(), values.end()), sizes;
  const double before = median(values.first(at)), after = median(values.subspan(at));
  for (std::size_t i = 0; i < tame.size(); ++i)
    sizes.push_back(std::abs(tame[i] - (i < at ? before : after)));
  const double most = kWild * kMadToSigma * median(sizes);
  for (std::size_t i = 0; i < tame.size() && most > 0.0; ++i) {
    const double level = i < at ? before : after;
    tame[i] = std::clamp(tame[i], level - most, level + most);
  }
  return tame;
}

/// A step at `at` of the last values, by least squares with the known correlation. The mean of few
/// values has the tails of single ones, the lighter the more they are: their excess kurtosis over
/// the number of values.
struct RecentStep {
  double shift = 0.0;
  double p = 1.0;         // for any recent place
  double likeness = 0.0;  // of the place: |t| of the values as they are
};
RecentStep recent_step(const LevelHistory& history, std::size_t begin, std::size_t at,
                       const NoisePrior& prior) {
  const auto last = std::span(history.values).subspan(begin);
  const StepTest raw = step_test(last, at - begin, history.phi, prior.variance, history.floor);
  const auto of_any = [&](double p) {
    return p > kClearStep ? 1.0 : over_recent_places(p, last.size(), history.phi);
  };
  if (of_any(raw.p) > kClearStep) return {};
  const StepTest tame = step_test(without_wild_nights(last, at - begin), at - begin, history.phi,
                                  prior.variance, history.floor);
  const double single = (tame.shift < 0.0 ? prior.below : prior.above).degrees();
  const double tail = 4.0 + (single - 4.0) * static_cast<double>(history.values.size() - at);
  double t = std::abs(tame.shift) / std::max(raw.error, tame.error), degrees = raw.degrees;
  if (tail < degrees) {  // t of so few degrees has a larger variance than one
    degrees = tail;
    t *= std::sqrt(tail / (tail - 2.0));
  }
  return {tame.shift, of_any(2.0 * student_cdf(-t, degrees)), std::abs(raw.t)};
}

/// First segment after i back at the level before i; 0: none.
std::size_t return_segment(const Segments& segments, std::size_t i, const Thresholds& thresholds) {
  for (std::size_t j = i + 1; j < segments.levels.size(); ++j)
    if (!thresholds.passes(segments.levels[j] - segments.levels[i - 1])) return j;
  return 0;
}

/// Whether segment i returns to an earlier level, which ends that change.
bool is_return(const Segments& segments, std::size_t i, const Thresholds& thresholds) {
  for (std::size_t j = 0; j + 1 < i; ++j)
    if (!thresholds.passes(segments.levels[i] - segments.levels[j])) return true;
  return false;
}

/// Hodges and Lehmann's shift, its interval widened for correlated neighbours.
void set_shift(Change& change, std::span<const double> before, std::span<const double> after,
               double inflation) {
  const Shift shift = hodges_lehmann(before, after);
  const double f = std::sqrt(inflation);
  change.shift = shift.estimate;
  change.shift_low = shift.estimate - f * (shift.estimate - shift.low);
  change.shift_high = shift.estimate + f * (shift.high - shift.estimate);
}

Change change_at(const LevelHistory& history, std::size_t i, const NoisePrior& prior) {
  const std::span<const double> values = history.values;
  const std::size_t begin = history.segments.begins[i - 1], at = history.segments.begins[i];
  const std::size_t end = history.segments.end(i, values.size());
  const auto before = values.subspan(begin, at - begin), after = values.subspan(at, end - at);
  const auto both = values.subspan(begin, end - begin);
  Change change{.at = at, .before = before.size(), .after = after.size()};
  set_shift(change, before, after, history.inflation);
  change.p = change_p(history, before, after, prior);
  if (prior.pooled && end == values.size() && at + kRecent >= end && change.before >= kFewestNights)
    change.p = std::min(change.p, recent_step(history, begin, at, prior).p);
  const ChangeInterval place = change_interval(both, history.inflation);
  change.low = std::min(at, begin + place.low);
  change.high = std::max(at, begin + place.high);
  const RankScan scan = rank_scan(both);
  const std::size_t scanned = begin + scan.at;
  const bool agrees = scan.z > std::sqrt(history.inflation) * rank_scan_cut(both.size()) &&
                      std::max(scanned, at) - std::min(scanned, at) <= kSamePlace;
  change.voters = 2;
  change.votes = agrees ? 2 : 1;
  return change;
}

double studentised(const PredictionTest& found, double value, std::size_t n) {
  return std::abs(value - found.centre) /
         std::sqrt(found.variance * (1.0 + 1.0 / static_cast<double>(n)));
}

/// The tail model is trusted only beyond the values seen: for many series beyond all but one in
/// five hundred, for one series beyond twice the largest. Otherwise the chance is at least the
/// share of values that went as far.
double least_chance(const TailMoments& tail, double t, bool pooled) {
  const std::size_t beyond = tail.reaching(pooled ? t : t / kStandsOut);
  if (beyond <= (pooled ? tail.residuals.size() / kOneIn : 0)) return 0.0;
  return (1.0 + static_cast<double>(tail.reaching(t))) / (1.0 + tail.count);
}

}  // namespace

PredictionTest predicted(std::span<const double> nights, double value, const NoisePrior& prior) {
  const bool below = value < mean(nights);
  TailMoments own;
  if (!prior.pooled) own.add(nights, below);
  const TailMoments& tail = prior.pooled ? (below ? prior.below : prior.above) : own;
  PredictionTest found = predict(nights, value, prior.variance, prior.floor,
                                 std::min(prior.pooled ? HUGE_VAL : kAloneDegrees, tail.degrees()));
  double& p = below ? found.below : found.above;
  if (p < kRare)
    p = std::max(p, least_chance(tail, studentised(found, value, nights.size()), prior.pooled));
  return found;
}

namespace {

/// Of the newest value as the only one at another level than those from `begin` on.
double newest_p(const LevelHistory& history, std::size_t begin, const NoisePrior& prior) {
  const auto nights = std::span(history.values).subspan(begin);
  const PredictionTest found =
      predicted(nights.first(nights.size() - 1), history.values.back(), prior);
  return std::min(found.below, found.above);
}

}  // namespace

void add_recent_step(LevelHistory& history, const Thresholds& thresholds, const NoisePrior& prior) {
  const std::size_t n = history.values.size();
  std::vector<std::size_t> begins = history.segments.begins;
  // A recent step that the penalty allowed gets its most likely place.
  const bool is_recent = begins.size() > 1 && begins.back() + kRecent >= n;
  if (is_recent && begins.back() >= begins[begins.size() - 2] + kFewestNights) begins.pop_back();
  const std::size_t begin = std::max(begins.back(), n - std::min(n, kMostNights + kRecent));
  std::size_t best = 0;
  double likeliest = 0.0, p = 1.0;
  const RecentPlaces places = recent_places(n - begin);
  for (std::size_t at = begin + places.first; at <= begin + places.last; ++at) {
    const RecentStep step = recent_step(history, begin, at, prior);
    if (step.p > kClearStep || step.likeness <= likeliest || !thresholds.passes(step.shift))
      continue;
    likeliest = step.likeness;
    p = step.p;
    best = at;
  }
  // One value far from all others is a newest value to be judged, not the end of a level.
  if (best == 0 || newest_p(history, begin, prior) <= p) return;
  begins.push_back(best);
  history.segments.begins = std::move(begins);
  set_levels(history.segments, history.values);
}

std::span<const double> LevelHistory::nights() const {
  const std::size_t begin = segments.begins.back(), count = values.size() - begin - 1;
  const std::size_t taken = std::min(count, kMostNights);
  return {values.data() + begin + count - taken, taken};
}

LevelHistory measured(std::vector<double> values, double floor) {
  LevelHistory history{.values = std::move(values), .floor = floor};
  history.sigma = std::max(floor, difference_sigma(history.values));
  history.correlation = neighbour_correlation(history.values);
  return history;
}

std::vector<Change> changes_of(const LevelHistory& history, const Thresholds& thresholds,
                               const NoisePrior& prior) {
  std::vector<Change> found;
  for (std::size_t i = 1; i < history.segments.begins.size(); ++i) {
    const std::size_t back = return_segment(history.segments, i, thresholds);
    const std::size_t until = back == 0 ? 0 : history.segments.begins[back];
    if (is_return(history.segments, i, thresholds)) continue;
    if (back != 0 && until + kRecent < history.values.size()) continue;
    found.push_back(change_at(history, i, prior));
    found.back().until = until;
  }
  return found;
}

std::optional<Change> drift_of(const LevelHistory& history, const Thresholds& thresholds) {
  const std::span<const double> values = history.values;
  const std::size_t n = values.size(), steps = history.segments.begins.size() - 1;
  if (n < kFewestForDrift || steps == 1) return {};
  if (steps == 0) {  // most series end here, without the quadratic cost of a trend
    const std::size_t third = n / 3;
    if (!thresholds.passes(median(values.last(third)) - median(values.first(third)))) return {};
  } else if (rise_of_line(values, history.segments,
                          l1_penalty(history.sigma, n, history.inflation)) == 0.0) {
    return {};
  }
  const Trend line = trend(values, history.inflation);
  const auto length = static_cast<double>(n - 1);
  if (line.p > kDriftLevel || !thresholds.passes(line.slope * length)) return {};
  return Change{.at = 0,
                .shift = line.slope * length,
                .shift_low = line.low * length,
                .shift_high = line.high * length,
                .p = line.p,
                .before = 0,
                .after = n};
}

std::optional<Change> newest_of(const LevelHistory& history, const NoisePrior& prior,
                                double most_p) {
  const auto nights = history.nights();
  if (nights.size() < kFewestNights) return {};
  const double value = history.values.back();
  const std::size_t at = history.values.size() - 1;
  const PredictionTest found = predicted(nights, value, prior);
  Change change{.at = at, .low = at, .high = at, .before = nights.size(), .after = 1};
  change.shift = value - found.centre;
  change.p = std::min(found.below, found.above);
  if (change.p > most_p) return change;
  const double half = student_quantile(0.975, found.degrees) *
                      std::sqrt(found.variance * (1.0 + 1.0 / static_cast<double>(nights.size())));
  change.shift_low = change.shift - half;
  change.shift_high = change.shift + half;
  return change;
}

}  // namespace bench

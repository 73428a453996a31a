#include "results/verdicts/peers/criteria.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/peers.h"

namespace bench {
namespace {

/// The counted part of F_a - F_b: a is worse where more of its values lie below (above if lower is
/// better).
double counted(double difference, CountedArea side, Better better) {
  if (side == CountedArea::both) return difference < 0.0 ? -difference : difference;
  return std::max(0.0, better == Better::lower ? -difference : difference);
}

}  // namespace

double similarity(std::span<const double> a, std::span<const double> b, CountedArea side,
                  Better better) {
  if (a.empty() || b.empty() || !(a.front() >= 0.0) || !(b.front() >= 0.0)) return 0.0;
  std::size_t i = 0, k = 0;
  double x = 0.0, area = 0.0, whole = 0.0;
  while (i < a.size() || k < b.size()) {
    const double next = i == a.size() ? b[k] : k == b.size() ? a[i] : std::min(a[i], b[k]);
    const double below_a = static_cast<double>(i) / static_cast<double>(a.size());
    const double below_b = static_cast<double>(k) / static_cast<double>(b.size());
    area += counted(below_a - below_b, side, better) * (next - x);
    whole += (1.0 - std::min(below_a, below_b)) * (next - x);
    x = next;
    while (i < a.size() && a[i] <= x) ++i;
    while (k < b.size() && b[k] <= x) ++k;
  }
  return whole > 0.0 ? 1.0 - area / whole : 1.0;
}

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

namespace {

constexpr std::size_t kMostCompared = 200;
constexpr double kFewestKept = 0.7;
constexpr double kKindShare = 0.1, kLeastNoise = 1e-3;
constexpr std::size_t kFewestOfKind = 3;
constexpr double kRepeatability = 0.01;  // quantile of similarities between runs of one host

using Values = std::vector<std::vector<double>>;  // sorted, of each host

Values sorted_runs(std::span<const std::vector<double>> runs) {
  Values values(runs.begin(), runs.end());
  for (auto& one : values) {
    std::erase_if(one, [](double value) { return !(value > 0.0) || !std::isfinite(value); });
    std::ranges::sort(one);
  }
  return values;
}

double alpha_of(std::span<const std::vector<double>> runs, double threshold) {
  std::vector<double> again;
  for (const auto& values : runs)
    for (std::size_t i = 1; i < values.size(); ++i)
      again.push_back(
          similarity(std::span(values).subspan(i - 1, 1), std::span(values).subspan(i, 1)));
  const double usual = 1.0 - threshold;
  return again.empty() ? usual : std::min(usual, quantile(again, kRepeatability));
}

/// At most kMostCompared kept hosts, evenly by median.
std::vector<std::size_t> candidates(const Values& values, const std::vector<bool>& kept) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (kept[i]) all.push_back(i);
  std::ranges::stable_sort(all, {}, [&](std::size_t i) { return median(values[i]); });
  if (all.size() <= kMostCompared) return all;
  std::vector<std::size_t> some;
  for (std::size_t i = 0; i < kMostCompared; ++i)
    some.push_back(all[(2 * i + 1) * all.size() / (2 * kMostCompared)]);
  return some;
}

std::size_t centre_of(const Values& values, const std::vector<std::size_t>& among) {
  std::vector<double> sums(among.size(), 0.0);
  for (std::size_t i = 0; i < among.size(); ++i)
    for (std::size_t k = i + 1; k < among.size(); ++k) {
      const double alike = similarity(values[among[i]], values[among[k]]);
      sums[i] += alike, sums[k] += alike;
    }
  return among[static_cast<std::size_t>(std::ranges::max_element(sums) - sums.begin())];
}

std::vector<double> medians_of(const Values& values, const std::vector<bool>& kept) {
  std::vector<double> medians;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (kept[i]) medians.push_back(median(values[i]));
  return medians;
}

std::string kinds_text(const TwoKinds& kinds) {
  return fmt::format(
      "two kinds of hosts: {} at about {:.4g} and {} at about {:.4g}; learn from each separately",
      kinds.low, kinds.low_centre, kinds.high, kinds.high_centre);
}

Criterion criterion_of(const Values& values, const std::vector<bool>& kept, std::size_t centre,
                       double alpha) {
  Criterion found;
  found.centre = median(values[centre]);
  found.alpha = alpha;
  std::vector<double> pooled;
  Values of_kept;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!kept[i]) continue;
    pooled.insert(pooled.end(), values[i].begin(), values[i].end());
    of_kept.push_back(values[i]);
  }
  for (const double q : kCriterionQuantiles) found.quantiles.push_back(quantile(pooled, q));
  found.run_noise = moderated_noise(of_kept, found.centre).fleet;
  found.host_noise = robust_sigma(medians_of(values, kept)) / found.centre;
  found.hosts = of_kept.size();
  found.excluded = values.size() - of_kept.size();
  return found;
}

/// The split with the least sum of squares about the means of both parts.
std::size_t best_split(const std::vector<double>& sorted) {
  const double all = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  const auto n = static_cast<double>(sorted.size());
  double sum = 0.0, best = -HUGE_VAL;
  std::size_t split = 0;
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    sum += sorted[i];
    const double low = static_cast<double>(i + 1), high = n - low;
    // Minimal within-group squares are maximal between-group squares.
    const double between = low * high / n * std::pow((all - sum) / high - sum / low, 2);
    if (between > best) best = between, split = i + 1;
  }
  return split;
}

/// Robust sigmas between two kinds. Small fleets estimate sigma badly: at most one healthy
/// (Gaussian) fleet in a hundred reaches this, simulated for 8 to 256 hosts.
double kind_gap(std::size_t hosts) {
  const auto n = static_cast<double>(hosts);
  return 4.0 + 800.0 / (n * n);
}

}  // namespace

std::optional<TwoKinds> two_kinds(std::vector<double> values, double least) {
  std::ranges::sort(values);
  const auto share = static_cast<std::size_t>(kKindShare * static_cast<double>(values.size()));
  const std::size_t split = best_split(values), fewest = std::max(kFewestOfKind, share + 1);
  if (split < fewest || values.size() - split < fewest) return {};
  const std::span all(values);
  TwoKinds kinds{split, values.size() - split, median(all.first(split)),
                 median(all.subspan(split))};
  std::vector<double> deviations;
  for (std::size_t i = 0; i < values.size(); ++i)
    deviations.push_back(std::abs(values[i] - (i < split ? kinds.low_centre : kinds.high_centre)));
  const double gap = kinds.high_centre - kinds.low_centre;
  const double sigma = std::max(kMadToSigma * median(deviations), kLeastNoise * kinds.low_centre);
  if (gap <= kind_gap(values.size()) * sigma || gap <= least * kinds.high_centre) return {};
  return kinds;
}

LearnResult learn(std::span<const std::vector<double>> runs, double threshold) {
  const Values values = sorted_runs(runs);
  std::vector<bool> kept;
  for (const auto& one : values) kept.push_back(!one.empty());
  const auto hosts = static_cast<std::size_t>(std::ranges::count(kept, true));
  LearnResult result;
  if (hosts < kFewestToLearn) {
    result.refusal =
        fmt::format("{} hosts are too few; at least {} required", hosts, kFewestToLearn);
    return result;
  }
  if (const auto kinds = two_kinds(medians_of(values, kept), threshold)) {
    result.refusal = kinds_text(*kinds);
    return result;
  }
  const double alpha = alpha_of(runs, threshold);
  std::size_t centre = 0;
  for (bool changed = true; changed;) {
    changed = false;
    centre = centre_of(values, candidates(values, kept));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (kept[i] && similarity(values[i], values[centre]) < alpha) {
        kept[i] = false;
        changed = true;
      }
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!kept[i]) result.excluded.push_back(i);
  const auto left = static_cast<std::size_t>(std::ranges::count(kept, true));
  if (static_cast<double>(left) < kFewestKept * static_cast<double>(hosts))
    result.refusal =
        fmt::format("only {} of {} hosts agree (within {:.1f} %); too few to learn from", left,
                    hosts, 100.0 * (1.0 - alpha));
  else if (const auto kinds = two_kinds(medians_of(values, kept), threshold))
    result.refusal = kinds_text(*kinds);  // hidden by dead hosts before
  else
    result.criterion = criterion_of(values, kept, centre, alpha);
  return result;
}

}  // namespace bench

#include "results/stats/e_divisive.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

/// q from sums of |difference|: between the sides, and over the pairs of each.
double q_of(double left, double right, double across, double pairs_left, double pairs_right) {
  const double all = left + right;
  double q = 2.0 / all * across;
  if (left > 1.0) q -= 2.0 * right / all / (left - 1.0) * pairs_left;
  if (right > 1.0) q -= 2.0 * left / all / (right - 1.0) * pairs_right;
  return q;
}

struct Change {
  std::size_t at = 0;
  double p = 1.0;
  double magnitude = 0.0;
};

/// Two-sided, of Student's t with a pooled variance from deviations that divide by n, as Otava has
/// them.
double otava_p(std::span<const double> left, std::span<const double> right) {
  const auto a = static_cast<double>(left.size()), b = static_cast<double>(right.size());
  if (a + b < 3.0) return 1.0;
  const auto squares =
      [](std::span<const double> values) {  // (n - 1) * (variance that divides by n)
        const double centre = mean(values);
        double sum = 0.0;
        for (const double value : values) sum += (value - centre) * (value - centre);
        const auto n = static_cast<double>(values.size());
        return sum * (n - 1.0) / n;
      };
  const double pooled = (squares(left) + squares(right)) / (a + b - 2.0);
  const double distance = mean(left) - mean(right);
  if (pooled <= 0.0) return distance == 0.0 ? 1.0 : 0.0;
  const double t = distance / std::sqrt(pooled * (1.0 / a + 1.0 / b));
  return 2.0 * student_cdf(-std::abs(t), a + b - 2.0);
}

double magnitude(std::span<const double> left, std::span<const double> right) {
  const double a = mean(left), b = mean(right);
  return std::max(a == 0.0 ? 0.0 : std::abs(b / a - 1.0), b == 0.0 ? 0.0 : std::abs(a / b - 1.0));
}

/// A change at `at` between the changes before and after it.
Change judged(std::span<const double> values, std::size_t begin, std::size_t at, std::size_t end) {
  const auto left = values.subspan(begin, at - begin), right = values.subspan(at, end - at);
  return {at, otava_p(left, right), magnitude(left, right)};
}

/// Divides the window again and again at the largest q of all its parts, until that is not
/// significant.
std::vector<std::size_t> divided(std::span<const double> values, double most_p) {
  std::vector<std::size_t> edges = {0, values.size()};
  while (true) {
    Division best{-HUGE_VAL};
    std::size_t part = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      if (edges[i + 1] - edges[i] < 2) continue;
      Division here = best_division(values.subspan(edges[i], edges[i + 1] - edges[i]));
      if (here.q <= best.q) continue;
      best = {here.q, here.at + edges[i], 0};
      part = i;
    }
    if (best.at == 0 || judged(values, edges[part], best.at, edges[part + 1]).p > most_p) break;
    edges.insert(edges.begin() + static_cast<std::ptrdiff_t>(part) + 1, best.at);
  }
  return {edges.begin() + 1, edges.end() - 1};
}

std::vector<std::size_t> weak_changes(std::span<const double> values, std::size_t window,
                                      double most_p) {
  std::vector<std::size_t> found;
  for (std::size_t start = 0; start < values.size();) {
    const std::size_t length = std::min(window, values.size() - start);
    std::size_t last = 0;
    for (const std::size_t at : divided(values.subspan(start, length), most_p)) {
      last = at + start;
      found.push_back(last);
    }
    start = std::max(last, start + window / 2);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

Division best_division(std::span<const double> values) {
  const std::size_t n = values.size();
  std::vector<double> pairs_left(n + 1, 0.0);  // over pairs before an index
  for (std::size_t j = 1; j < n; ++j) {
    pairs_left[j + 1] = pairs_left[j];
    for (std::size_t i = 0; i < j; ++i) pairs_left[j + 1] += std::abs(values[i] - values[j]);
  }
  Division best{-HUGE_VAL};
  for (std::size_t at = 1; at < n; ++at) {
    double across = 0.0, pairs_right = 0.0;
    for (std::size_t end = at + 1; end <= n; ++end) {
      for (std::size_t i = 0; i < at; ++i) across += std::abs(values[i] - values[end - 1]);
      for (std::size_t i = at; i + 1 < end; ++i)
        pairs_right += std::abs(values[i] - values[end - 1]);
      const double q = q_of(static_cast<double>(at), static_cast<double>(end - at), across,
                            pairs_left[at], pairs_right);
      if (q > best.q) best = {q, at, end};
    }
  }
  return best;
}

std::vector<std::size_t> otava_changes(std::span<const double> values,
                                       const OtavaSettings& settings) {
  // The first pass keeps weak changes, ten times less significant, or twice if that is already
  // large.
  const double p = settings.most_p;
  const double weak_p = p < 0.05 ? 10.0 * p : (p < 0.5 ? 2.0 * p : p);
  std::vector<Change> changes;
  const auto end_of = [&](std::size_t i) {
    return i + 1 < changes.size() ? changes[i + 1].at : values.size();
  };
  const auto judge = [&](std::size_t i) {
    changes[i] = judged(values, i == 0 ? 0 : changes[i - 1].at, changes[i].at, end_of(i));
  };
  for (const std::size_t at : weak_changes(values, settings.window, weak_p))
    changes.push_back({at});
  for (std::size_t i = 0; i < changes.size(); ++i) judge(i);
  while (!changes.empty()) {  // remove the weakest change and judge its neighbours again
    auto weakest = std::ranges::max_element(changes, {}, &Change::p);
    if (weakest->p < p) {
      weakest = std::ranges::min_element(changes, {}, &Change::magnitude);
      if (weakest->magnitude > settings.least_magnitude) break;
    }
    const auto i = static_cast<std::size_t>(weakest - changes.begin());
    changes.erase(weakest);
    if (i < changes.size()) judge(i);
    // Otava judges the next two changes but not the previous one, whose right side has grown as
    // well. Kept to reproduce its indices.
    if (i + 1 < changes.size()) judge(i + 1);
  }
  std::vector<std::size_t> result;
  for (const Change& change : changes) result.push_back(change.at);
  return result;
}

}  // namespace bench

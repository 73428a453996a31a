#include "results/scaling/time_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "results/scaling/small_system.h"

namespace bench {
namespace {

constexpr std::size_t kFewestTimes = 5;

using Terms = std::vector<std::size_t>;  // 0: constant, 1: ln N, 2: N

double term(std::size_t which, double n) { return which == 0 ? 1.0 : which == 1 ? std::log(n) : n; }

std::optional<TimeFit> with_terms(std::span<const TimeAt> values, const Terms& terms) {
  std::vector<std::vector<double>> rows;
  for (const TimeAt& at : values) {
    rows.emplace_back();
    for (const std::size_t which : terms) rows.back().push_back(term(which, at.n) / at.seconds);
  }
  const auto inverted = inverse(normal_matrix(rows, terms.size()));
  if (!inverted) return {};
  const std::vector<double> ones(values.size(), 1.0);
  const auto found = product(*inverted, normal_right(rows, ones, terms.size()));
  if (std::ranges::any_of(found, [](double coefficient) { return coefficient < 0.0; })) return {};
  std::array<double, 3> all{};
  for (std::size_t i = 0; i < terms.size(); ++i) all[terms[i]] = found[i];
  TimeFit fit{all[0], all[1], all[2]};
  double square = 0.0;
  for (const TimeAt& at : values) square += std::pow(1.0 - fit.seconds(at.n) / at.seconds, 2);
  const auto n = static_cast<double>(values.size()), k = static_cast<double>(terms.size() + 1);
  fit.values = values.size();
  fit.deviation = std::sqrt(square / (n - k + 1.0));
  fit.aicc = n - k - 1.0 > 0.0 ? n * std::log(std::max(square, 1e-30) / n) + 2.0 * k +
                                     2.0 * k * (k + 1.0) / (n - k - 1.0)
                               : HUGE_VAL;
  return fit;
}

}  // namespace

double TimeFit::seconds(double n) const {
  return constant + per_log * std::log(n) + per_worker * n;
}

std::optional<TimeFit> time_fit(std::span<const TimeAt> values) {
  std::set<double> different;
  for (const TimeAt& at : values) {
    if (!(at.n >= 1.0) || !(at.seconds > 0.0) || !std::isfinite(at.seconds)) return {};
    different.insert(at.n);
  }
  if (different.size() < kFewestTimes) return {};
  std::optional<TimeFit> best;
  for (const Terms& terms : {Terms{0}, Terms{0, 1}, Terms{0, 2}, Terms{0, 1, 2}}) {
    const auto fit = with_terms(values, terms);
    if (fit && (!best || fit->aicc < best->aicc)) best = fit;
  }
  return best;
}

}  // namespace bench

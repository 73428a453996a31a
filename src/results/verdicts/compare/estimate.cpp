#include "results/verdicts/compare/estimate.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"
#include "results/stats/hodges_lehmann.h"
#include "results/stats/means.h"
#include "results/stats/rank_tests.h"

namespace bench {
namespace {

constexpr std::size_t kFewestPairs = 6;  // fewer have no 95 % interval
constexpr std::size_t kFewestUnits = 4;

std::vector<double> ys_of(const std::vector<Scaled>& values) {
  std::vector<double> ys;
  for (const Scaled& value : values) ys.push_back(value.y);
  return ys;
}

double median_of(const std::vector<Scaled>& values) { return median(ys_of(values)); }

std::vector<UnitOfHost> common_units(const ScaledUnits& a, const ScaledUnits& b) {
  std::vector<UnitOfHost> common;
  for (const auto& [unit, values] : a)
    if (b.contains(unit)) common.push_back(unit);
  return common;
}

Estimate by_pairs(const ScaledUnits& a, const ScaledUnits& b,
                  const std::vector<UnitOfHost>& common) {
  std::vector<double> differences;
  for (const UnitOfHost& unit : common)
    differences.push_back(median_of(b.at(unit)) - median_of(a.at(unit)));
  return {Basis::pairs,
          paired_shift(differences),
          signed_rank(differences).p,
          standard_deviation(differences),
          common.size(),
          {}};
}

double pooled_deviation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() + b.size() < 3) return kNoValue;
  const auto squares = [](const std::vector<double>& values) {
    const double deviation = standard_deviation(values);
    return values.size() < 2 ? 0.0 : deviation * deviation * static_cast<double>(values.size() - 1);
  };
  return std::sqrt((squares(a) + squares(b)) / static_cast<double>(a.size() + b.size() - 2));
}

Shift shift_of_means(const std::vector<double>& a, const std::vector<double>& b) {
  const WelchTest test = welch(a, b);
  return {test.difference, test.interval.low, test.interval.high, 0.95};
}

Estimate by_ranks(Basis basis, const std::vector<double>& a, const std::vector<double>& b) {
  return {basis, hodges_lehmann(a, b), mann_whitney(a, b).p, pooled_deviation(a, b),
          0,     shift_of_means(a, b)};
}

Estimate by_runs_of_units(const ScaledUnits& a, const ScaledUnits& b,
                          const std::vector<UnitOfHost>& common) {
  std::vector<Stratum> strata;
  double squares = 0.0, degrees = 0.0;
  for (const UnitOfHost& unit : common) {
    strata.push_back({ys_of(a.at(unit)), ys_of(b.at(unit))});
    const auto& [of_a, of_b] = strata.back();
    const double deviation = pooled_deviation(of_a, of_b);
    if (!std::isfinite(deviation)) continue;
    const auto own = static_cast<double>(of_a.size() + of_b.size() - 2);
    squares += deviation * deviation * own;
    degrees += own;
  }
  const StratifiedShift found = stratified_shift(strata);
  return {Basis::runs,   found.shift,
          found.p,       std::sqrt(squares / degrees),
          common.size(), strata.size() == 1 ? shift_of_means(strata[0].a, strata[0].b) : Shift{}};
}

bool single_runs(const ScaledUnits& a, const ScaledUnits& b,
                 const std::vector<UnitOfHost>& common) {
  return std::ranges::all_of(common, [&](const UnitOfHost& unit) {
    return a.at(unit).size() == 1 && b.at(unit).size() == 1;
  });
}

Estimate by_samples(const std::vector<std::pair<Scaled, Scaled>>& pairs) {
  double sum = 0.0, squares = 0.0;
  for (const auto& [a, b] : pairs) {
    sum += b.y - a.y;
    squares += a.error * a.error + b.error * b.error;
  }
  const auto n = static_cast<double>(pairs.size());
  Estimate found{.basis = Basis::samples, .pairs = pairs.size()};
  found.shift.estimate = sum / n;
  const double error = std::sqrt(squares) / n;
  if (!std::isfinite(error)) {
    found.basis = Basis::none;
    return found;
  }
  const double half = normal_quantile(0.975) * error;
  found.shift.low = found.shift.estimate - half;
  found.shift.high = found.shift.estimate + half;
  found.shift.confidence = 0.95;
  if (error > 0.0) found.p = 2.0 * normal_cdf(-std::abs(found.shift.estimate) / error);
  if (error == 0.0) found.p = found.shift.estimate == 0.0 ? 1.0 : 0.0;
  return found;
}

Estimate within_units(const ScaledUnits& a, const ScaledUnits& b,
                      const std::vector<UnitOfHost>& common) {
  if (common.size() >= kFewestPairs) return by_pairs(a, b, common);
  if (!single_runs(a, b, common)) return by_runs_of_units(a, b, common);
  std::vector<std::pair<Scaled, Scaled>> pairs;
  for (const UnitOfHost& unit : common) pairs.emplace_back(a.at(unit)[0], b.at(unit)[0]);
  return by_samples(pairs);
}

Estimate between_units(const ScaledUnits& a, const ScaledUnits& b) {
  const bool by_unit = a.size() >= kFewestUnits && b.size() >= kFewestUnits;
  const auto values_of = [by_unit](const ScaledUnits& units) {
    std::vector<double> values;
    for (const auto& [unit, runs] : units) {
      if (by_unit) values.push_back(median_of(runs));
      if (!by_unit)
        for (const Scaled& run : runs) values.push_back(run.y);
    }
    return values;
  };
  const auto of_a = values_of(a), of_b = values_of(b);
  if (of_a.size() == 1 && of_b.size() == 1)
    return by_samples({{a.begin()->second[0], b.begin()->second[0]}});
  return by_ranks(by_unit ? Basis::hosts : Basis::runs, of_a, of_b);
}

}  // namespace

Estimate estimate(const ScaledUnits& a, const ScaledUnits& b) {
  const auto common = common_units(a, b);
  Estimate found = common.empty() ? between_units(a, b) : within_units(a, b, common);
  if (found.basis != Basis::samples && !std::isfinite(found.shift.low)) found.basis = Basis::none;
  return found;
}

}  // namespace bench

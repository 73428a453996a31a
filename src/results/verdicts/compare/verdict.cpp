#include "results/verdicts/compare/verdict.h"

#include <algorithm>
#include <cmath>

#include "core/names.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

constexpr double kLevel = 0.05;
constexpr double kPower = 0.8;
constexpr std::size_t kMostNeeded = 1'000'000;

}  // namespace

std::string_view to_string(ChangeVerdict verdict) {
  using enum ChangeVerdict;
  static constexpr NameTable<ChangeVerdict, 5> kNames{{{{improved, "improved"},
                                                        {regressed, "regressed"},
                                                        {equivalent, "equivalent"},
                                                        {changed, "changed"},
                                                        {inconclusive, "inconclusive"}}}};
  return kNames.name(verdict);
}

Margins margins(double threshold, bool log_scale, double centre) {
  if (log_scale) return {std::log1p(threshold), -std::log1p(-threshold)};
  return {threshold * std::abs(centre), threshold * std::abs(centre)};
}

ChangeVerdict judge(const Shift& shift, Better better, const Margins& margins) {
  if (!std::isfinite(shift.low) || !std::isfinite(shift.high)) return ChangeVerdict::inconclusive;
  const bool above = shift.low > margins.up, below = shift.high < -margins.down;
  if (above || below) {
    if (better == Better::none) return ChangeVerdict::changed;
    return above == (better == Better::higher) ? ChangeVerdict::improved : ChangeVerdict::regressed;
  }
  if (shift.low > -margins.down && shift.high < margins.up) return ChangeVerdict::equivalent;
  if (shift.low > 0.0 || shift.high < 0.0) return ChangeVerdict::changed;
  return ChangeVerdict::inconclusive;
}

std::size_t fewest_values(bool paired, std::size_t family) {
  const double wanted = kLevel / static_cast<double>(std::max<std::size_t>(1, family));
  // The smallest two-sided p: 2 / C(2n, n) unpaired, 2 / 2^n paired.
  double least = 2.0;
  for (std::size_t n = 1;; ++n) {
    const auto k = static_cast<double>(n);
    least *= paired ? 0.5 : k / (2.0 * (2.0 * k - 1.0));
    if (least <= wanted) return n;
  }
}

std::size_t runs_needed(double deviation, double margin, bool paired, std::size_t family) {
  const std::size_t fewest = fewest_values(paired, family);
  const double z = normal_quantile(1.0 - 0.5 * kLevel) + normal_quantile(kPower);
  const double ratio = z * deviation / margin;
  const double needed = std::ceil((paired ? 1.0 : 2.0) * ratio * ratio * M_PI / 3.0);
  if (!(needed < static_cast<double>(kMostNeeded))) return kMostNeeded;
  return std::max(fewest, static_cast<std::size_t>(needed));
}

}  // namespace bench

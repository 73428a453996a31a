#include "results/verdicts/compare/compared_values.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/stats/distributions.h"

namespace bench {
namespace {

/// Facts that identify a part are irrelevant when hosts differ.
bool identifies_part(const std::string& fact) {
  return fact.ends_with("serial") || fact.ends_with(".uuid");
}

bool is_setting(const std::string& fact) { return fact.starts_with("setting."); }

}  // namespace

const std::vector<FactChange>& ChangedFacts::between(std::int64_t a, std::int64_t b) {
  const auto [slot, is_new] = known_.try_emplace({a, b});
  if (!is_new) return slot->second;
  const auto before = a_.configurations.find(a), after = b_.configurations.find(b);
  if (before != a_.configurations.end() && after != b_.configurations.end())
    slot->second = changes(before->second, after->second);
  return slot->second;
}

std::vector<FactChange> ChangedFacts::add(const ValuesOfUnits& a, const ValuesOfUnits& b) {
  std::map<std::string, FactChange> settings;
  const auto take = [&](const UnitOfHost& unit, const Point& before, const Point& after,
                        bool same_unit) {
    for (const FactChange& change : between(before.configuration, after.configuration)) {
      if (is_setting(change.fact))
        settings[change.fact] = change;
      else if (same_unit || !identifies_part(change.fact))
        units_[{change.fact, change.before, change.after}].insert(unit);
    }
  };
  bool common = false;
  for (const auto& [unit, points] : a)
    if (const auto other = b.find(unit); other != b.end()) {
      common = true;
      take(unit, points.back(), other->second.back(), true);
    }
  if (!common && !a.empty() && !b.empty())
    take(b.begin()->first, a.begin()->second.back(), b.begin()->second.back(), false);
  std::vector<FactChange> found;
  for (auto& [name, change] : settings) found.push_back(std::move(change));
  return found;
}

std::vector<ChangedFact> ChangedFacts::facts() const {
  std::vector<ChangedFact> found;
  for (const auto& [key, units] : units_) {
    const auto& [fact, before, after] = key;
    found.push_back({{fact, before, after}, units.size()});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &ChangedFact::units);
  return found;
}

namespace {

double half_95() {
  static const double half = normal_quantile(0.975);
  return half;
}

bool all_positive(const ValuesOfUnits& units) {
  return std::ranges::all_of(units, [](const auto& unit) {
    return std::ranges::all_of(unit.second, [](const Point& point) { return point.value > 0.0; });
  });
}

Scaled scaled_value(const Point& point, bool log_scale, double noise_floor) {
  if (log_scale)
    return {std::log(point.value),
            std::fmax(noise_floor, std::log(point.high / point.low) / (2.0 * half_95()))};
  const double error = (point.high - point.low) / (2.0 * half_95());
  return {point.value, std::fmax(noise_floor * std::abs(point.value), error)};
}

/// fmax drops a NaN: a run without a usable interval must not look exact.
Scaled without_unsound_error(Scaled value, const Point& point, bool log_scale) {
  const bool sound = point.low <= point.high && (!log_scale || point.low > 0.0);
  if (!sound || !std::isfinite(point.high - point.low)) value.error = kNoValue;
  return value;
}

}  // namespace

SideValues side_values(const ValuesOfUnits& units) {
  SideValues found;
  found.units = units.size();
  for (const auto& [unit, points] : units) found.n += points.size();
  const auto over_units = [&](double Point::*field) {
    std::vector<double> of_units;
    for (const auto& [unit, points] : units) {
      std::vector<double> values;
      for (const Point& point : points) values.push_back(point.*field);
      of_units.push_back(finite_median(values));
    }
    return finite_median(of_units);
  };
  found.value = over_units(&Point::value);
  found.of_limit = over_units(&Point::of_limit);
  found.clock_hz = over_units(&Point::clock_hz);
  found.power_w = over_units(&Point::power_w);
  return found;
}

bool on_log_scale(const MetricDeclaration& declared, const ValuesOfUnits& a,
                  const ValuesOfUnits& b) {
  return declared.log_scale && all_positive(a) && all_positive(b);
}

ScaledUnits scaled(const ValuesOfUnits& units, bool log_scale, double noise_floor) {
  ScaledUnits found;
  for (const auto& [unit, points] : units)
    for (const Point& point : points)
      found[unit].push_back(
          without_unsound_error(scaled_value(point, log_scale, noise_floor), point, log_scale));
  return found;
}

ScaledUnits scaled_per_cycle(const ValuesOfUnits& units, Better better) {
  ScaledUnits found;
  for (const auto& [unit, points] : units)
    for (const Point& point : points) {
      if (!(point.clock_hz > 0.0)) return {};
      Scaled value = without_unsound_error(scaled_value(point, true, 0.0), point, true);
      value.y = (better == Better::lower ? -value.y : value.y) - std::log(point.clock_hz);
      found[unit].push_back(value);
    }
  return found;
}

}  // namespace bench

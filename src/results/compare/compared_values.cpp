#include "results/compare/compared_values.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "results/statistics/distributions.h"

namespace bench {
namespace {

/// Median of the known values.
class KnownMedian {
 public:
  void add(double value) {
    if (std::isfinite(value)) known_.push_back(value);
  }
  double value() const { return median(known_); }

 private:
  std::vector<double> known_;
};

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

/// fmax drops a NaN: a run without an interval, or with one that is none, must not look exact.
Scaled without_unsound_error(Scaled value, const Point& point, bool log_scale) {
  const bool sound = point.low <= point.high && (!log_scale || point.low > 0.0);
  if (!sound || !std::isfinite(point.high - point.low)) value.error = kNoValue;
  return value;
}

}  // namespace

SideValues side_values(const ValuesOfUnits& units) {
  KnownMedian value, of_limit, clock, power;
  SideValues found;
  found.units = units.size();
  for (const auto& [unit, points] : units) {
    KnownMedian own_value, own_limit, own_clock, own_power;
    for (const Point& point : points) {
      own_value.add(point.value);
      own_limit.add(point.of_limit);
      own_clock.add(point.clock_hz);
      own_power.add(point.power_w);
    }
    found.n += points.size();
    value.add(own_value.value());
    of_limit.add(own_limit.value());
    clock.add(own_clock.value());
    power.add(own_power.value());
  }
  found.value = value.value();
  found.of_limit = of_limit.value();
  found.clock_hz = clock.value();
  found.power_w = power.value();
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

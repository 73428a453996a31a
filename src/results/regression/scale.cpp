#include "results/regression/scale.h"

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"

namespace bench {

Scale::Scale(bool is_log, std::span<const double> values) : log_(is_log) {
  if (log_) return;
  const double level = std::abs(median(values));
  if (level > 0.0) unit_ = level;
}

double Scale::of(double value) const { return log_ ? std::log(value) : value / unit_; }
double Scale::value(double place) const { return log_ ? std::exp(place) : place * unit_; }
double Scale::share(double distance) const { return log_ ? std::expm1(distance) : distance; }
double Scale::up(double threshold) const { return log_ ? std::log1p(threshold) : threshold; }
double Scale::down(double threshold) const {
  return log_ ? -std::log1p(-std::min(threshold, 0.99)) : threshold;
}

}  // namespace bench

#include "training/optimizers/gradient_outliers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bench::training {
namespace {

// Minimum standard deviation: with nearly constant norms, everything would be an outlier.
constexpr double kLeastDeviation = 0.02;

}  // namespace

std::optional<GradientOutlier> GradientOutliers::observe(std::int64_t step, double norm) {
  const bool finite = std::isfinite(norm) && norm > 0.0;
  const double infinity = std::numeric_limits<double>::infinity();
  const double deviation = std::max(std::sqrt(variance_), kLeastDeviation);
  const double z = finite ? (std::log(norm) - mean_) / deviation : infinity;
  const bool warm = seen_ >= window_ / 2;
  if (!finite || (warm && std::abs(z) > threshold_)) {
    log_.push_back({step, norm, z, finite ? std::exp(std::log(norm) - mean_) : infinity});
    return log_.back();
  }
  ++seen_;
  const double weight = std::max(1.0 / seen_, 1.0 / window_);
  const double difference = std::log(norm) - mean_;
  mean_ += weight * difference;
  variance_ = (1.0 - weight) * (variance_ + weight * difference * difference);
  return std::nullopt;
}

}  // namespace bench::training

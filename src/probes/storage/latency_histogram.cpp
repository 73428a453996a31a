#include "probes/storage/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace bench::storage {

// Values below kSteps have a bucket each. Above, each doubling is cut into kSteps / 2 buckets: its
// values shifted right lie in kSteps / 2 ... kSteps - 1.
std::size_t LatencyHistogram::bucket(std::uint64_t nanoseconds) {
  if (nanoseconds < kSteps) return static_cast<std::size_t>(nanoseconds);
  const auto shift = static_cast<std::size_t>(std::bit_width(nanoseconds / kSteps));
  const auto index = shift * kSteps / 2 + static_cast<std::size_t>(nanoseconds >> shift);
  return std::min(index, kBuckets - 1);
}

double LatencyHistogram::upper_end(std::size_t bucket) {
  if (bucket < kSteps) return static_cast<double>(bucket + 1);
  const std::size_t shift = bucket / (kSteps / 2) - 1;
  const std::size_t step = bucket - shift * kSteps / 2;
  return std::ldexp(static_cast<double>(step + 1), static_cast<int>(shift));
}

void LatencyHistogram::add(Seconds latency) {
  const double nanoseconds = std::clamp(latency.value * 1e9, 0.0, 1e18);
  counts_[bucket(static_cast<std::uint64_t>(nanoseconds))] += 1.0;
}

void LatencyHistogram::add(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
}

double LatencyHistogram::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), 0.0);
}

Seconds LatencyHistogram::quantile(double q) const {
  const double wanted = q * count();
  double seen = 0.0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (counts_[i] > 0.0 && seen >= wanted) return {upper_end(i) * 1e-9};
  }
  return {std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace bench::storage

// Latencies of millions of operations in a fixed amount of memory: counts in buckets with a
// relative width of 1/64, so that a percentile is accurate within 1.6 %. Histograms of threads and
// ranks can be added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/units.h"

namespace bench::storage {

class LatencyHistogram {
 public:
  LatencyHistogram() : counts_(kBuckets, 0.0) {}

  void add(Seconds latency);
  void add(const LatencyHistogram& other);
  double count() const;
  /// The upper end of the bucket of quantile `q`; NaN without operations.
  Seconds quantile(double q) const;

  /// For ranks to sum; the same length everywhere.
  std::vector<double>& counts() { return counts_; }

 private:
  static constexpr std::size_t kSteps = 128;                // below, each nanosecond has a bucket
  static constexpr std::size_t kBuckets = kSteps / 2 * 48;  // half as many a doubling: some months

  static std::size_t bucket(std::uint64_t nanoseconds);
  static double upper_end(std::size_t bucket);

  std::vector<double> counts_;
};

}  // namespace bench::storage

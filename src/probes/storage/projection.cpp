#include "probes/storage/projection.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/text.h"

namespace bench::storage {
namespace {

constexpr double kFlat = 0.1;        // the rate may change by so much
constexpr double kTimesCache = 2.0;  // so many times what a cache holds have to be written
constexpr std::size_t kFewestChunks = 16;

/// When `bytes` had been written, on a straight line between chunks.
double time_at(const std::vector<Progress>& progress, double bytes) {
  double time = 0.0, done = 0.0;
  for (const Progress& next : progress) {
    if (next.bytes >= bytes)
      return time + (next.time.value - time) * (bytes - done) / (next.bytes - done);
    time = next.time.value;
    done = next.bytes;
  }
  return time;
}

}  // namespace

double late_over_before(const std::vector<Progress>& progress) {
  if (progress.size() < kFewestChunks) return std::numeric_limits<double>::quiet_NaN();
  const double all = progress.back().bytes;
  const double half = time_at(progress, all / 2), late = time_at(progress, all * 3 / 4);
  return (late - half) / (progress.back().time.value - late);
}

Projection project(const WrittenAmount& written, double bytes) {
  if (bytes <= written.bytes * (1.0 + 1e-6))  // it was written, or more than it
    return {Seconds{written.duration.value * bytes / written.bytes}, ""};
  const std::string larger = fmt::format("; increase 'scale' ({} written)",
                                         format(Bytes{written.bytes}));
  if (std::isnan(written.late_over_before))
    return {{},
            fmt::format("not extrapolated: fewer than {} chunks per rank written{}",
                        kFewestChunks, larger)};
  if (written.bytes < kTimesCache * written.cache_bytes)
    return {{},
            fmt::format("not extrapolated: less than twice the cache of {} written{}",
                        format(Bytes{written.cache_bytes}), larger)};
  if (std::abs(written.late_over_before - 1.0) > kFlat)
    return {{},
            fmt::format("not extrapolated: the rate is not steady (the last quarter ran at {} "
                        "of the rate of the quarter before){}",
                        format(written.late_over_before, Unit::ratio), larger)};
  return {Seconds{written.duration.value * bytes / written.bytes}, ""};
}

}  // namespace bench::storage

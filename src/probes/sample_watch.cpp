#include "probes/sample_watch.h"

#include <cmath>

#include "core/order_statistics.h"
#include "core/record.h"

namespace bench {
namespace {

constexpr double kStolenShare = 0.001;    // of a sample, on any one measuring thread
constexpr double kClockTolerance = 0.02;  // relative to the running median
constexpr double kOwnCore = 0.62;  // two threads of one core get a half each, and 0.95 of their own

}  // namespace

unsigned SampleWatch::stolen(Seconds length) {
  const double lost = threads_.lost().value;
  return lost > 0.0 && lost >= kStolenShare * length.value ? kStolen : kClean;
}

unsigned SampleWatch::slowed(std::optional<Hertz> clock, std::optional<double> core_share) {
  unsigned flags = device_.slowdown() & (kThermal | kPowerCapped);
  if (core_share.value_or(1.0) < kOwnCore) flags |= kCoreShared;
  const double hertz = clock.value_or(Hertz{0.0}).value;
  if (!(hertz > 0.0)) return flags;
  if (clock_moved(hertz)) flags |= kClockMoved;
  clocks_.push_back(hertz);
  return flags;
}

bool SampleWatch::clock_moved(double clock) const {
  if (!device_.steady_clock() || clocks_.size() < 3) return false;
  const double usual = median(clocks_);
  return std::abs(clock - usual) > kClockTolerance * usual;
}

}  // namespace bench

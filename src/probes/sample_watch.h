// The rule by which a sample is clean, for State::measure and for procedures that time their own
// work (probes/work_watch.h): time lost by measuring threads, throttling, the clock, and shared
// cores. On this rank; crowding (devices/crowding.h) is of a whole series.
#pragma once

#include <optional>
#include <vector>

#include "devices/device.h"

namespace bench {

class SampleWatch {
 public:
  /// `threads`: those that do the work.
  SampleWatch(Device& device, ThreadWatch& threads) : device_(device), threads_(threads) {}

  void begin() { threads_.start(); }
  /// kStolen or kClean, of a sample of this length since begin().
  unsigned stolen(Seconds length);
  /// Flags of the device and its clock now; `clock` under this kind of load, `core_share` the
  /// smallest of any measuring thread, nothing if unknown.
  unsigned slowed(std::optional<Hertz> clock, std::optional<double> core_share = {});

  /// Hz, one for each call of slowed() with a clock. The running median is theirs.
  const std::vector<double>& clocks() const { return clocks_; }
  void forget_clocks() { clocks_.clear(); }

 private:
  bool clock_moved(double clock) const;

  Device& device_;
  ThreadWatch& threads_;
  std::vector<double> clocks_ = {};
};

}  // namespace bench

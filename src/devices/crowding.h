// CPU time used by other processes on this machine during a series. The clean filter sees only time
// taken from measuring threads; a neighbour on another core takes none, but shares caches, memory
// bandwidth, power and clock.
#pragma once

#include <optional>
#include <vector>

#include "devices/device.h"
#include "devices/group.h"

namespace bench {

/// Above this share of the machine's CPU time, samples are not clean.
inline constexpr double kCrowdedShare = 0.1;

/// Keeps readings of the machine's CPU account during a job. Called by every rank of the group
/// alike.
class Crowding {
 public:
  Crowding(Device& device, Group& group) : Crowding(device, device.watch(), group) {}
  /// `threads`: their CPU time is ours.
  Crowding(Device& device, ThreadWatch& threads, Group& group)
      : device_(device), threads_(threads), group_(group) {
    mark();
  }

  /// Marks the beginning of a series.
  void mark();

  /// Share of the machine's CPU time used outside the group, on the group's worst machine, since
  /// the last mark() or an earlier one of this job at least a quarter of a second ago, because the
  /// kernel counts whole ticks. Two ticks are tolerated. Nothing if the kernel does not report it.
  std::optional<double> others_share();

 private:
  struct Reading {
    Seconds time;  // by the device's clock
    MachineTime machine;
    Seconds own;
  };
  std::optional<Reading> read();

  Device& device_;
  ThreadWatch& threads_;
  Group& group_;
  std::vector<Reading> readings_;  // oldest first
};

}  // namespace bench

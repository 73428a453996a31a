// How much of this machine other processes used while a series was measured. The clean filter sees
// only who took time from a measuring thread; a neighbour on another core takes none, but shares
// caches, memory bandwidth, power and clock.
#pragma once

#include <optional>
#include <vector>

#include "devices/device.h"
#include "devices/group.h"

namespace bench {

/// Above this share of the machine's CPU time the samples are not clean.
inline constexpr double kCrowdedShare = 0.1;

/// Keeps readings of the machine's account through a job. Every rank of the group calls alike.
class Crowding {
 public:
  Crowding(Device& device, Group& group) : device_(device), group_(group) { mark(); }

  /// A series begins.
  void mark();

  /// Share of the machine's CPU time that belonged to nobody of the group, on the worst of its
  /// machines, since the last mark() or, because the kernel counts whole ticks, since an earlier
  /// one of this job that lies a quarter of a second back. What two ticks explain is not held
  /// against anybody. Nothing where the kernel does not tell.
  std::optional<double> others_share();

 private:
  struct Reading {
    Seconds time;  // the device's
    MachineTime machine;
    Seconds own;
  };
  std::optional<Reading> read();

  Device& device_;
  Group& group_;
  std::vector<Reading> readings_;  // oldest first; those that no series can need are dropped
};

}  // namespace bench

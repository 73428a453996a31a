// How much of this machine other processes used while a series was measured. The clean filter sees
// only who took time from a measuring thread; a neighbour on another core takes none, but shares
// caches, memory bandwidth, power and clock.
#pragma once

#include <optional>

#include "probes/device.h"
#include "probes/group.h"

namespace bench {

/// Above this share of the machine's CPU time the samples are not clean.
inline constexpr double kCrowdedShare = 0.1;

class Crowding {
 public:
  /// Reads the accounts. Every rank of the group makes one alike.
  Crowding(Device& device, Group& group);

  /// Share of the machine's CPU time since then that belonged to nobody of the group, on the worst
  /// of its machines; nothing where the kernel does not tell. Called by all ranks alike. The
  /// kernel counts whole ticks: an interval of a few is too short, and what two ticks explain is
  /// not held against anybody.
  std::optional<double> others_share();

 private:
  Device& device_;
  Group& group_;
  std::optional<MachineTime> machine_;
  Seconds own_;
};

}  // namespace bench

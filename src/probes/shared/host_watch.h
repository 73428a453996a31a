// Interference on the hosts during a measurement: load of other processes, steal time, CPU
// throttling. Times measured on a disturbed host do not represent an idle one.
#pragma once

#include "core/json.h"
#include "devices/crowding.h"
#include "devices/facts/host_pressure.h"

namespace bench {

class HostWatch {
 public:
  /// Starts the measurement; create one on every rank.
  HostWatch(Device& device, Group& group)
      : group_(group), crowding_(device, group), before_(HostPressure::now()) {}

  /// {others_share, steal_share, throttled_s} of the worst host; null where the kernel does not
  /// report it, or there is no quota. Call on every rank; all get the same result.
  Json facts();

 private:
  Group& group_;
  Crowding crowding_;
  HostPressure before_;
};

}  // namespace bench

// What the hosts of a training did to it meanwhile: others' load, time stolen or held back. Times
// of a disturbed host say nothing of a quiet one.
#pragma once

#include "core/json.h"
#include "probes/crowding.h"
#include "probes/facts/host_pressure.h"

namespace bench::training {

class HostWatch {
 public:
  /// From here on; every rank makes one.
  HostWatch(Device& device, Group& group)
      : group_(group), crowding_(device, group), before_(HostPressure::now()) {}

  /// {others_share, steal_share, throttled_s} of the worst host; null where the kernel does not
  /// tell, or there is no quota. Every rank calls it and gets the same.
  Json facts();

 private:
  Group& group_;
  Crowding crowding_;
  HostPressure before_;
};

}  // namespace bench::training

// What others did on this host while a loop was measured. A loader's threads share the processors
// with everybody, so that a rate on a busy host says nothing of a quiet one.
#pragma once

#include <optional>

#include "core/json.h"
#include "core/units.h"
#include "devices/facts/host_pressure.h"

namespace bench::data {

class HostWatch {
 public:
  /// From here on.
  HostWatch();
  /// Share of the machine's CPU time that other processes used; nothing where the kernel does not
  /// tell.
  std::optional<double> others_share() const;
  /// {others_share, steal_share, throttled_s, disturbed: why the rates are not this host's}; null
  /// for what is not known.
  Json facts() const;

 private:
  HostPressure before_;
  Seconds own_;
};

}  // namespace bench::data

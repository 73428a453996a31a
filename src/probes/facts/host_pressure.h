// What the machine around us did to us during a series: time the hypervisor stole and time a
// cgroup's CPU quota held us back. The clean filter cannot see these, so they are kept alongside the
// samples.
#pragma once

#include <optional>

#include "probes/facts/cpu_account.h"

namespace bench {

/// Counters since boot; differences of two are what matters.
struct HostPressure {
  std::optional<CpuAccount> cpu;
  std::optional<double> throttled_s;  // of this cgroup (cpu.stat); nothing where there is no quota

  static HostPressure now();
};

/// Share of the machine's CPU time that was stolen between two readings.
std::optional<double> steal_share(const HostPressure& before, const HostPressure& after);
std::optional<double> throttled(const HostPressure& before, const HostPressure& after);

}  // namespace bench

// What the machine around us did to us during a series: time the hypervisor stole and time a
// cgroup's CPU quota held us back. The clean filter cannot see these, so they are kept alongside
// the samples.
#pragma once

#include <optional>

#include "core/system_files.h"

namespace bench {

// CPU time of the whole machine since its start, over all processors: the first line of /proc/stat.

struct CpuAccount {
  double busy_s = 0.0;  // user, nice and system; a virtual machine's guests are in user
  double iowait_s = 0.0;
  double steal_s = 0.0;  // taken by the hypervisor
  double all_s = 0.0;    // idle time, interrupts and the above
};

/// The grain of the account.
double tick_seconds();

/// Nothing where the line cannot be read or is not whole.
std::optional<CpuAccount> read_cpu_account(const SystemFiles& files = SystemFiles());

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

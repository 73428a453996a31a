// CPU time that a series lost to the hypervisor (steal) and to the CPU quota of its cgroup. The
// clean filter cannot see these, so they are kept with the samples.
#pragma once

#include <optional>

#include "core/system_files.h"
#include "devices/device.h"

namespace bench {

/// CPU time of the whole machine since boot: the first line of /proc/stat.
struct CpuAccount {
  double busy_s = 0.0;  // user (guests included), nice and system
  double iowait_s = 0.0;
  double steal_s = 0.0;  // taken by the hypervisor
  double all_s = 0.0;    // idle time, interrupts and the above
};

/// The resolution of the account.
double tick_seconds();

/// Nothing if the line is unreadable or incomplete.
std::optional<CpuAccount> read_cpu_account(const SystemFiles& files = SystemFiles());
/// The account as a ThreadWatch reports it; nothing if it is unreadable or empty.
std::optional<MachineTime> host_machine_time();

/// Counters since boot; only differences are meaningful.
struct HostPressure {
  std::optional<CpuAccount> cpu;
  std::optional<double> throttled_s;  // of this cgroup (cpu.stat); nothing without a quota

  static HostPressure now();
};

/// Share of the machine's CPU time that was stolen between two readings.
std::optional<double> steal_share(const HostPressure& before, const HostPressure& after);
std::optional<double> throttled(const HostPressure& before, const HostPressure& after);

}  // namespace bench

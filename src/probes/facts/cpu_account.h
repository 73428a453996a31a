// CPU time of the whole machine since its start, over all processors: the first line of /proc/stat.
#pragma once

#include <optional>

#include "probes/facts/system_files.h"

namespace bench {

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

}  // namespace bench

// How much of the machine the kernel's control groups leave to this process. A container often sees
// all cores and all memory and may use a part of them; the limits of every parent group count.
#pragma once

#include <cstdint>
#include <optional>

#include "core/system_files.h"

namespace bench {

struct CgroupLimits {
  bool readable = false;            // false: no group of ours could be looked at
  std::optional<double> cpu_cores;  // CPU time per wall time; nothing where there is no quota
  std::optional<std::int64_t> memory_bytes;  // nothing where there is no limit
};

/// Versions 1 and 2, also mixed.
CgroupLimits read_cgroup_limits(const SystemFiles& files);

}  // namespace bench

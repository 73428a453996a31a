// CPU and memory that the kernel's control groups grant this process. In a container this is often
// less than the cores and memory it sees; the limits of all parent groups apply.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/system_files.h"

namespace bench {

struct CgroupLimits {
  bool readable = false;                     // false: no control group could be read
  std::optional<double> cpu_cores;           // CPU time per wall time; nothing without a quota
  std::optional<std::int64_t> memory_bytes;  // nothing without a limit
};

/// A control group of this process.
struct Cgroup {
  std::string controllers;  // "cpu,cpuacct"; "" for version 2
  std::string path;         // below the mount: "/user.slice"
  bool has(const std::string& controller) const;
};
std::vector<Cgroup> own_cgroups(const SystemFiles& files);

/// Versions 1 and 2, also mixed.
CgroupLimits read_cgroup_limits(const SystemFiles& files);

}  // namespace bench

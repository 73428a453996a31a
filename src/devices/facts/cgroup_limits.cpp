#include "devices/facts/cgroup_limits.h"

#include <algorithm>
#include <sstream>

namespace bench {
namespace {

/// Version 1 writes "no limit" as the largest multiple of the page size; nothing has that much.
constexpr std::int64_t kUnlimited = std::int64_t{1} << 60;

template <class T>
void lower(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

/// "max 100000" or "50000 100000": microseconds in each period.
void add_cpu_max(const std::string& text, CgroupLimits& limits) {
  std::istringstream in(text);
  std::string quota;
  double period = 0.0;
  if (!(in >> quota >> period) || !(period > 0.0)) return;
  if (const auto value = parse_number(quota)) lower(limits.cpu_cores, double(*value) / period);
}

void read_version_2(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  if (const auto text = files.text(folder + "/cpu.max")) add_cpu_max(*text, limits);
  if (const auto bytes = files.number(folder + "/memory.max")) lower(limits.memory_bytes, *bytes);
}

void read_cpu_1(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  const auto quota = files.number(folder + "/cpu.cfs_quota_us");
  const auto period = files.number(folder + "/cpu.cfs_period_us");
  if (quota && period && *quota > 0 && *period > 0)
    lower(limits.cpu_cores, double(*quota) / double(*period));
}

void read_memory_1(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  const auto bytes = files.number(folder + "/memory.limit_in_bytes");
  if (bytes && *bytes < kUnlimited) lower(limits.memory_bytes, *bytes);
}

using Read = void (*)(const SystemFiles&, const std::string&, CgroupLimits&);

/// Reads `group` and its parents up to the mount. In a container the group's path may be that of
/// the host and not be there; the mount itself then is our group.
void read_up(const SystemFiles& files, const std::string& mount, std::string group, Read read,
             CgroupLimits& limits) {
  if (!files.exists(mount)) return;
  limits.readable = true;
  while (!group.empty() && group != "/") {
    read(files, mount + group, limits);
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  read(files, mount, limits);
}

bool names(const std::string& controllers, const std::string& one) {
  return ("," + controllers + ",").find("," + one + ",") != std::string::npos;
}

}  // namespace

CgroupLimits read_cgroup_limits(const SystemFiles& files) {
  CgroupLimits limits;
  std::istringstream in(files.text("proc/self/cgroup").value_or(""));
  std::string line;
  while (std::getline(in, line)) {  // "4:cpu,cpuacct:/path", version 2: "0::/path"
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    const std::string mount = "sys/fs/cgroup";
    if (controllers.empty()) {
      read_up(files, mount, group, read_version_2, limits);
      read_up(files, mount + "/unified", group, read_version_2, limits);
    }
    if (names(controllers, "cpu")) read_up(files, mount + "/cpu", group, read_cpu_1, limits);
    if (names(controllers, "memory"))
      read_up(files, mount + "/memory", group, read_memory_1, limits);
  }
  return limits;
}

}  // namespace bench

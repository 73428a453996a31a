#include "devices/facts/cgroup_limits.h"

#include <algorithm>
#include <sstream>

#include "core/text.h"

namespace bench {
namespace {

/// Version 1 writes "no limit" as the largest multiple of the page size.
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
  const auto value = parse_number(quota);
  if (value && *value > 0) lower(limits.cpu_cores, double(*value) / period);
}

void read_version_2(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  if (const auto text = files.text(folder + "/cpu.max")) add_cpu_max(*text, limits);
  const auto bytes = files.number(folder + "/memory.max");
  if (bytes && *bytes >= 0) lower(limits.memory_bytes, *bytes);
}

void read_cpu_1(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  const auto quota = files.number(folder + "/cpu.cfs_quota_us");
  const auto period = files.number(folder + "/cpu.cfs_period_us");
  if (quota && period && *quota > 0 && *period > 0)
    lower(limits.cpu_cores, double(*quota) / double(*period));
}

void read_memory_1(const SystemFiles& files, const std::string& folder, CgroupLimits& limits) {
  const auto bytes = files.number(folder + "/memory.limit_in_bytes");
  if (bytes && *bytes >= 0 && *bytes < kUnlimited) lower(limits.memory_bytes, *bytes);
}

using Read = void (*)(const SystemFiles&, const std::string&, CgroupLimits&);

/// Reads `group` and its parents up to the mount. In a container the path may be that on the host
/// and not exist here; the mount itself then is our group.
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

}  // namespace

bool Cgroup::has(const std::string& controller) const {
  return ("," + controllers + ",").find("," + controller + ",") != std::string::npos;
}

std::vector<Cgroup> own_cgroups(const SystemFiles& files) {
  std::vector<Cgroup> groups;
  const std::string text = files.text("proc/self/cgroup").value_or("");
  for (const std::string_view line : words_of(text, "\n")) {  // "4:cpu,cpuacct:/path", "0::/path"
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first != std::string_view::npos && second != std::string_view::npos)
      groups.push_back({std::string(line.substr(first + 1, second - first - 1)),
                        std::string(line.substr(second + 1))});
  }
  return groups;
}

CgroupLimits read_cgroup_limits(const SystemFiles& files) {
  CgroupLimits limits;
  const std::string mount = "sys/fs/cgroup";
  for (const Cgroup& group : own_cgroups(files)) {
    if (group.controllers.empty()) {
      read_up(files, mount, group.path, read_version_2, limits);
      read_up(files, mount + "/unified", group.path, read_version_2, limits);
    }
    if (group.has("cpu")) read_up(files, mount + "/cpu", group.path, read_cpu_1, limits);
    if (group.has("memory")) read_up(files, mount + "/memory", group.path, read_memory_1, limits);
  }
  return limits;
}

}  // namespace bench

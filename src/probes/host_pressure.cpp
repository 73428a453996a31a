#include "probes/host_pressure.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace bench {
namespace {

/// Path of our cgroup's cpu.stat, version 2 or 1; empty where there is none.
std::string cpu_stat_path() {
  std::ifstream in("/proc/self/cgroup");
  std::string line;
  while (std::getline(in, line)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) return "/sys/fs/cgroup" + group + "/cpu.stat";
    if (("," + controllers + ",").find(",cpu,") != std::string::npos)
      return "/sys/fs/cgroup/cpu" + group + "/cpu.stat";
  }
  return {};
}

std::optional<double> read_throttled() {
  static const std::string path = cpu_stat_path();
  if (path.empty()) return {};
  std::ifstream in(path);
  std::string key;
  double value = 0.0;
  while (in >> key >> value) {
    if (key == "throttled_usec") return value * 1e-6;
    if (key == "throttled_time") return value * 1e-9;
  }
  return {};
}

}  // namespace

HostPressure HostPressure::now() {
  HostPressure pressure;
  std::ifstream in("/proc/stat");
  std::string line;
  if (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string cpu;
    fields >> cpu;
    double ticks = 0.0;
    double all = 0.0;
    double busy = 0.0;
    const auto per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    // user nice system idle iowait irq softirq steal; guest is in user
    constexpr int kSystem = 2, kSteal = 7;
    for (int field = 0; field <= kSteal && fields >> ticks; ++field) {
      all += ticks;
      if (field <= kSystem) busy += ticks;
      if (field == kSteal) pressure.steal_s = ticks / per_second;
    }
    if (all > 0.0) {
      pressure.all_s = all / per_second;
      pressure.busy_s = busy / per_second;
    }
  }
  pressure.throttled_s = read_throttled();
  return pressure;
}

std::optional<double> steal_share(const HostPressure& before, const HostPressure& after) {
  if (!before.steal_s || !after.steal_s || !before.all_s || !after.all_s) return {};
  const double all = *after.all_s - *before.all_s;
  if (!(all > 0.0)) return {};  // shorter than a tick
  return (*after.steal_s - *before.steal_s) / all;
}

std::optional<double> throttled(const HostPressure& before, const HostPressure& after) {
  if (!before.throttled_s || !after.throttled_s) return {};
  return *after.throttled_s - *before.throttled_s;
}

}  // namespace bench

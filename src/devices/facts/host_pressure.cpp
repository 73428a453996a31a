#include "devices/facts/host_pressure.h"

#include <unistd.h>

#include <array>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>

namespace bench {

double tick_seconds() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::optional<CpuAccount> read_cpu_account(const SystemFiles& files) {
  constexpr std::size_t kFirstLine = 4096;
  const auto line = field(files.text("proc/stat", kFirstLine).value_or(""), "cpu");
  std::istringstream in(line.value_or(""));
  std::array<double, 8> seconds{};  // user nice system idle iowait irq softirq steal
  for (double& one : seconds) {
    if (!(in >> one)) return {};
    one *= tick_seconds();
  }
  return CpuAccount{seconds[0] + seconds[1] + seconds[2], seconds[4], seconds[7],
                    std::accumulate(seconds.begin(), seconds.end(), 0.0)};
}

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

HostPressure HostPressure::now() { return {read_cpu_account(), read_throttled()}; }

std::optional<double> steal_share(const HostPressure& before, const HostPressure& after) {
  if (!before.cpu || !after.cpu) return {};
  const double all = after.cpu->all_s - before.cpu->all_s;
  if (!(all > 0.0)) return {};  // shorter than a tick
  return (after.cpu->steal_s - before.cpu->steal_s) / all;
}

std::optional<double> throttled(const HostPressure& before, const HostPressure& after) {
  if (!before.throttled_s || !after.throttled_s) return {};
  return *after.throttled_s - *before.throttled_s;
}

}  // namespace bench

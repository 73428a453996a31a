#include "devices/facts/host_pressure.h"

#include <unistd.h>

#include <array>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>

#include "core/text.h"
#include "devices/facts/cgroup_limits.h"

namespace bench {

double tick_seconds() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::optional<CpuAccount> read_cpu_account(const SystemFiles& files) {
  constexpr std::size_t kFirstLine = 4096;
  const auto line = field(files.text("proc/stat", kFirstLine).value_or(""), "cpu");
  std::istringstream in(line.value_or(""));
  std::array<double, 8> seconds{};  // user nice system idle iowait irq softirq steal
  for (double& one : seconds) {
    if (!(in >> one) || one < 0.0) return {};
    one *= tick_seconds();
  }
  return CpuAccount{seconds[0] + seconds[1] + seconds[2], seconds[4], seconds[7],
                    std::accumulate(seconds.begin(), seconds.end(), 0.0)};
}

namespace {

/// Of our cgroup, version 2 or 1; "" if there is none.
std::string cpu_stat_path() {
  for (const Cgroup& group : own_cgroups(SystemFiles())) {
    if (group.controllers.empty()) return "sys/fs/cgroup" + group.path + "/cpu.stat";
    if (group.has("cpu")) return "sys/fs/cgroup/cpu" + group.path + "/cpu.stat";
  }
  return {};
}

std::optional<double> read_throttled() {
  static const std::string path = cpu_stat_path();
  const std::string stat = path.empty() ? "" : SystemFiles().text(path).value_or("");
  for (const auto& [key, unit] :
       {std::pair{"throttled_usec", 1e-6}, std::pair{"throttled_time", 1e-9}})
    if (const auto value = parse_number(field(stat, key).value_or("")))
      return static_cast<double>(*value) * unit;
  return {};
}

}  // namespace

std::optional<MachineTime> host_machine_time() {
  const auto cpu = read_cpu_account();
  if (!cpu || !(cpu->all_s > 0.0)) return {};
  return MachineTime{cpu->busy_s, cpu->all_s, tick_seconds()};
}

HostPressure HostPressure::now() { return {read_cpu_account(), read_throttled()}; }

std::optional<double> steal_share(const HostPressure& before, const HostPressure& after) {
  if (!before.cpu || !after.cpu) return {};
  const double all = after.cpu->all_s - before.cpu->all_s;
  if (!(all > 0.0)) return {};  // less than a tick
  return (after.cpu->steal_s - before.cpu->steal_s) / all;
}

std::optional<double> throttled(const HostPressure& before, const HostPressure& after) {
  if (!before.throttled_s || !after.throttled_s) return {};
  return *after.throttled_s - *before.throttled_s;
}

}  // namespace bench

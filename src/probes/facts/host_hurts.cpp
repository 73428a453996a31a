#include "probes/facts/host_hurts.h"

#include <fmt/format.h>

#include <optional>

#include "core/text.h"

namespace bench {
namespace {

constexpr double kHighSteal = 0.005;  // of all CPU time since boot
constexpr double kHighLoad = 0.5;     // runnable foreign processes per core
// Pinned buffers of a GPU or InfiniBand job start at tens of MiB; distributions set 8 MiB.
constexpr double kSmallMemlock = 64.0 * 1024 * 1024;
// A memory limit or sum of NUMA nodes within 2 % of the total counts as all of it.
constexpr double kNearlyAll = 0.98;

std::optional<double> number(const Json& facts, const char* key) {
  const auto found = facts.find(key);
  if (found == facts.end() || !found->is_number()) return {};
  return found->get<double>();
}

std::string word(const Json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
}

using Warnings = std::vector<std::string>;

void check_limits(const Json& facts, Warnings& warnings) {
  const auto quota = number(facts, "cpu_quota_cores");
  const auto cpus = number(facts, "allowed_cpus");
  if (quota && cpus && *quota < *cpus)
    warnings.push_back(
        fmt::format("the cgroup CPU quota is {:.4g} cores, but {:.0f} CPUs are allowed: threads on all of "
                    "them are throttled in every period; raise the quota or use fewer cores",
                    *quota, *cpus));
  const auto threads = number(facts, "hardware_threads");
  if (cpus && threads && *cpus < *threads)
    warnings.push_back(
        fmt::format("this process may use {:.0f} of {:.0f} CPUs: the results cover only those CPUs",
                    *cpus, *threads));
  const auto limit = number(facts, "memory_limit_bytes");
  const auto memory = number(facts, "memory_bytes");
  if (limit && memory && *limit < kNearlyAll * *memory)
    warnings.push_back(
        fmt::format("the cgroup memory limit is {} of {}: the kernel kills a probe that needs more; raise "
                    "the limit or use smaller sizes",
                    format(Bytes{*limit}), format(Bytes{*memory})));
}

void check_memory(const Json& facts, Warnings& warnings) {
  const auto nodes = number(facts, "memory_of_nodes_bytes");
  const auto memory = number(facts, "memory_bytes");
  if (nodes && memory && *nodes < kNearlyAll * *memory)
    warnings.push_back(
        fmt::format("the kernel's NUMA nodes hold {} of {}: the rest is initialised on first use (memory "
                    "ballooning or hot-plug), so first touches are slow and the memory per node is "
                    "unreliable; touch all memory once before measuring",
                    format(Bytes{*nodes}), format(Bytes{*memory})));
}

void check_sharing(const Json& facts, Warnings& warnings) {
  const std::string kind = word(facts, "virtualization");
  const std::string product = word(facts, "product");
  if (!kind.empty() && kind != "none" && kind != "unreadable")
    warnings.push_back("this is a virtual machine" +
                    (product.empty() || product == "unreadable" ? "" : " (" + product + ")") +
                    ": other guests on its host can change the results; compare only runs on the same "
                    "instance type");
  const auto steal = number(facts, "steal_share");
  if (steal && *steal > kHighSteal)
    warnings.push_back(
        fmt::format("CPU steal has been {:.1f} % since boot: expect disturbed samples; use dedicated "
                    "cores",
                    *steal * 100.0));
  const auto others = number(facts, "others_running");
  const auto load = number(facts, "load_average");
  const auto cpus = number(facts, "allowed_cpus");
  // Both: a snapshot may catch a short-lived process, and the load average lags.
  if (others && load && cpus && *others > kHighLoad * *cpus &&
      *load > kHighLoad * *cpus)
    warnings.push_back(
        fmt::format("{:.0f} other processes are runnable on {:.0f} CPUs (load average {:.1f}) and take "
                    "CPU time from the measurement; stop them, or check the share of clean samples",
                    *others, *cpus, *load));
}

void check_settings(const Json& facts, Warnings& warnings) {
  const std::string governor = word(facts, "governor");
  if (governor.find("powersave") != std::string::npos ||
      governor.find("conservative") != std::string::npos ||
      governor.find("ondemand") != std::string::npos)
    warnings.push_back("the CPU frequency governor is " + governor +
                    ": the clock follows the load, so short measurements are slow and noisy; run "
                    "`cpupower frequency-set -g performance`");
  if (word(facts, "thp") == "never")
    warnings.push_back(
        "transparent huge pages are off (never): large arrays use 4 KiB pages, which costs memory "
        "bandwidth and latency; run "
        "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`");
  const auto memlock = number(facts, "memlock_bytes");
  if (memlock && *memlock < kSmallMemlock)
    warnings.push_back(
        fmt::format("the locked-memory limit is only {}: larger RDMA buffers fail; raise memlock in "
                    "/etc/security/limits.conf or with `ulimit -l`",
                    format(Bytes{*memlock})));
  const std::string clocksource = word(facts, "clocksource");
  if (clocksource == "hpet" || clocksource == "acpi_pm" || clocksource == "jiffies")
    warnings.push_back("the kernel's clock source is " + clocksource +
                    ": reading it takes about a microsecond, so small latencies are overestimated; "
                    "check the kernel log for why tsc was rejected");
}

}  // namespace

std::vector<std::string> host_warnings(const Json& facts) {
  Warnings warnings;
  check_limits(facts, warnings);
  check_memory(facts, warnings);
  check_sharing(facts, warnings);
  check_settings(facts, warnings);
  return warnings;
}

}  // namespace bench

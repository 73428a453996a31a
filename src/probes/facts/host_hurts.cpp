#include "probes/facts/host_hurts.h"

#include <fmt/format.h>

#include <optional>

#include "core/text.h"

namespace bench {
namespace {

constexpr double kStealThatMatters = 0.005;  // of all CPU time since boot
constexpr double kBusyThatMatters = 0.5;     // runnable processes of others for each core
// Pinned buffers of a GPU or InfiniBand job start at tens of MiB; distributions set 8 MiB.
constexpr double kSmallMemlock = 64.0 * 1024 * 1024;
// A memory limit, or a sum of nodes, this close to the memory itself is the same.
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

void look_at_limits(const Json& facts, Warnings& warnings) {
  const auto quota = number(facts, "cpu_quota_cores");
  const auto cpus = number(facts, "allowed_cpus");
  if (quota && cpus && *quota < *cpus)
    warnings.push_back(
        fmt::format("the cgroup's CPU quota is {:.4g} cores, but {:.0f} CPUs can be used: work on "
                    "all of them is "
                    "stopped for part of each period; raise the quota or measure on fewer cores",
                    *quota, *cpus));
  const auto threads = number(facts, "hardware_threads");
  if (cpus && threads && *cpus < *threads)
    warnings.push_back(
        fmt::format("this process may use {:.0f} of {:.0f} CPUs: the numbers are of that part",
                    *cpus, *threads));
  const auto limit = number(facts, "memory_limit_bytes");
  const auto memory = number(facts, "memory_bytes");
  if (limit && memory && *limit < kNearlyAll * *memory)
    warnings.push_back(
        fmt::format("the cgroup's memory limit is {} of {}: a probe that needs more is ended by "
                    "the kernel; raise "
                    "the limit or measure smaller sizes",
                    format(Bytes{*limit}), format(Bytes{*memory})));
}

void look_at_memory(const Json& facts, Warnings& warnings) {
  const auto nodes = number(facts, "memory_of_nodes_bytes");
  const auto memory = number(facts, "memory_bytes");
  if (nodes && memory && *nodes < kNearlyAll * *memory)
    warnings.push_back(
        fmt::format("the kernel's NUMA nodes hold {} of {}: the rest is set up when it is first "
                    "used (a lazy or "
                    "growing virtual machine), so first use is slow and memory per node is not to "
                    "be trusted; use "
                    "all memory once before measuring",
                    format(Bytes{*nodes}), format(Bytes{*memory})));
}

void look_at_sharing(const Json& facts, Warnings& warnings) {
  const std::string kind = word(facts, "virtualization");
  const std::string product = word(facts, "product");
  if (!kind.empty() && kind != "none" && kind != "unreadable")
    warnings.push_back("this is a virtual machine" +
                    (product.empty() || product == "unreadable" ? "" : " (" + product + ")") +
                    ": the numbers are of its share, and its neighbours can change them; compare "
                    "only runs on the same kind of machine");
  const auto steal = number(facts, "steal_share");
  if (steal && *steal > kStealThatMatters)
    warnings.push_back(
        fmt::format("the hypervisor took {:.1f} % of the CPU time since boot for others: expect "
                    "samples that are "
                    "not clean; ask for dedicated cores",
                    *steal * 100.0));
  const auto others = number(facts, "others_running");
  const auto load = number(facts, "load_average");
  const auto cpus = number(facts, "allowed_cpus");
  // Both: one glance may meet a short-lived process, and the average still knows work that ended.
  if (others && load && cpus && *others > kBusyThatMatters * *cpus &&
      *load > kBusyThatMatters * *cpus)
    warnings.push_back(
        fmt::format("{:.0f} other processes want to run on {:.0f} CPUs (load average {:.1f}): they "
                    "take time from "
                    "the measurement; wait for them to end, or look at the clean counts",
                    *others, *cpus, *load));
}

void look_at_settings(const Json& facts, Warnings& warnings) {
  const std::string governor = word(facts, "governor");
  if (governor.find("powersave") != std::string::npos ||
      governor.find("conservative") != std::string::npos ||
      governor.find("ondemand") != std::string::npos)
    warnings.push_back("the CPU frequency governor is " + governor +
                    ": the clock follows the load, so short measurements run slow and scatter; "
                    "cpupower frequency-set -g performance");
  if (word(facts, "thp") == "never")
    warnings.push_back(
        "transparent huge pages are off (never): large arrays lie in small pages, which costs "
        "memory "
        "bandwidth and latency; echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  const auto memlock = number(facts, "memlock_bytes");
  if (memlock && *memlock < kSmallMemlock)
    warnings.push_back(
        fmt::format("only {} may be locked in memory: buffers for RDMA larger than that fail; "
                    "raise memlock in /etc/security/limits.conf or with ulimit -l",
                    format(Bytes{*memlock})));
  const std::string clocksource = word(facts, "clocksource");
  if (clocksource == "hpet" || clocksource == "acpi_pm" || clocksource == "jiffies")
    warnings.push_back("the kernel's clock source is " + clocksource +
                    ": reading the time costs about a microsecond, so small latencies read too "
                    "high; find out in the kernel log why tsc was refused");
}

}  // namespace

std::vector<std::string> host_warnings(const Json& facts) {
  Warnings warnings;
  look_at_limits(facts, warnings);
  look_at_memory(facts, warnings);
  look_at_sharing(facts, warnings);
  look_at_settings(facts, warnings);
  return warnings;
}

}  // namespace bench

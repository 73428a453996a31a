#include "devices/facts/host_facts.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/system_files.h"
#include "core/text.h"
#include "devices/facts/cgroup_limits.h"
#include "devices/facts/cpu_facts.h"
#include "devices/facts/host_pressure.h"
#include "devices/facts/settings.h"
#include "devices/facts/unreadable.h"

namespace bench {
namespace {

// Warnings about a host's settings and load: what is wrong, how it affects results, what to do.

constexpr double kHighSteal = 0.005;  // of all CPU time since boot
constexpr double kHighLoad = 0.5;     // runnable foreign processes per core
// Pinned buffers of a GPU or InfiniBand job start at tens of MiB; distributions set 8 MiB.
constexpr double kSmallMemlock = 64.0 * 1024 * 1024;
// A memory limit or sum of NUMA nodes within 2 % of the total counts as all of it.
constexpr double kNearlyAll = 0.98;

/// NaN for one that is missing or "unreadable": every comparison with it is false.
double number(const Json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_number() ? found->get<double>() : std::nan("");
}

std::string word(const Json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_string() ? found->get<std::string>() : "";
}

using Warnings = std::vector<std::string>;

void check_limits(const Json& facts, Warnings& warnings) {
  const double quota = number(facts, "cpu_quota_cores");
  const double cpus = number(facts, "allowed_cpus");
  if (quota < cpus)
    warnings.push_back(fmt::format(
        "the cgroup CPU quota is {:.4g} cores, but {:.0f} CPUs are allowed: threads on all of "
        "them are throttled in every period; raise the quota or use fewer cores",
        quota, cpus));
  const double threads = number(facts, "hardware_threads");
  if (cpus < threads)
    warnings.push_back(
        fmt::format("this process may use {:.0f} of {:.0f} CPUs: the results cover only those CPUs",
                    cpus, threads));
  const double limit = number(facts, "memory_limit_bytes");
  const double memory = number(facts, "memory_bytes");
  if (limit < kNearlyAll * memory)
    warnings.push_back(fmt::format(
        "the cgroup memory limit is {} of {}: the kernel kills a probe that needs more; raise "
        "the limit or use smaller sizes",
        format(Bytes{limit}), format(Bytes{memory})));
}

void check_memory(const Json& facts, Warnings& warnings) {
  const double nodes = number(facts, "memory_of_nodes_bytes");
  const double memory = number(facts, "memory_bytes");
  if (nodes < kNearlyAll * memory)
    warnings.push_back(fmt::format(
        "the kernel's NUMA nodes hold {} of {}: the rest is initialised on first use (memory "
        "ballooning or hot-plug), so first touches are slow and the memory per node is "
        "unreliable; touch all memory once before measuring",
        format(Bytes{nodes}), format(Bytes{memory})));
}

void check_sharing(const Json& facts, Warnings& warnings) {
  const std::string kind = word(facts, "virtualization");
  const std::string product = word(facts, "product");
  if (!kind.empty() && kind != "none" && kind != "unreadable")
    warnings.push_back(
        "this is a virtual machine" +
        (product.empty() || product == "unreadable" ? "" : " (" + product + ")") +
        ": other guests on its host can change the results; compare only runs on the same "
        "instance type");
  const double steal = number(facts, "steal_share");
  if (steal > kHighSteal)
    warnings.push_back(fmt::format(
        "CPU steal has been {:.1f} % since boot: expect disturbed samples; use dedicated "
        "cores",
        steal * 100.0));
  const double others = number(facts, "others_running");
  const double load = number(facts, "load_average");
  const double cpus = number(facts, "allowed_cpus");
  // Both: a snapshot may catch a short-lived process, and the load average lags.
  if (others > kHighLoad * cpus && load > kHighLoad * cpus)
    warnings.push_back(fmt::format(
        "{:.0f} other processes are runnable on {:.0f} CPUs (load average {:.1f}) and take "
        "CPU time from the measurement; stop them, or check the share of clean samples",
        others, cpus, load));
}

void check_settings(const Json& facts, Warnings& warnings) {
  const std::string governor = word(facts, "governor");
  if (governor.find("powersave") != std::string::npos ||
      governor.find("conservative") != std::string::npos ||
      governor.find("ondemand") != std::string::npos)
    warnings.push_back(
        "the CPU frequency governor is " + governor +
        ": the clock follows the load, so short measurements are slow and noisy; run "
        "`cpupower frequency-set -g performance`");
  if (word(facts, "thp") == "never")
    warnings.push_back(
        "transparent huge pages are off (never): large arrays use 4 KiB pages, which costs memory "
        "bandwidth and latency; run "
        "`echo madvise > /sys/kernel/mm/transparent_hugepage/enabled`");
  const double memlock = number(facts, "memlock_bytes");
  if (memlock < kSmallMemlock)
    warnings.push_back(fmt::format(
        "the locked-memory limit is only {}: larger RDMA buffers fail; raise memlock in "
        "/etc/security/limits.conf or with `ulimit -l`",
        format(Bytes{memlock})));
  const std::string clocksource = word(facts, "clocksource");
  if (clocksource == "hpet" || clocksource == "acpi_pm" || clocksource == "jiffies")
    warnings.push_back(
        "the kernel's clock source is " + clocksource +
        ": reading it takes about a microsecond, so small latencies are overestimated; "
        "check the kernel log for why tsc was rejected");
}

/// Most severe first.
std::vector<std::string> host_warnings(const Json& facts) {
  Warnings warnings;
  check_limits(facts, warnings);
  check_memory(facts, warnings);
  check_sharing(facts, warnings);
  check_settings(facts, warnings);
  return warnings;
}

constexpr const char* kReadable = "readable";
const std::string kLog = "dev/kmsg";
const std::string kTables = "sys/firmware/dmi/tables/DMI";
const std::string kControllers = "sys/devices/system/edac/mc";
const std::string kPci = "sys/bus/pci/devices";
constexpr std::size_t kWithoutRights = 64;  // bytes of a configuration that anybody may read

Json kernel_log(const SystemFiles& files) {
  if (!files.exists(kLog)) return unreadable("no /dev/kmsg, as in a container");
  if (!files.opens(kLog)) return unreadable("no permission to read /dev/kmsg");
  return kReadable;
}

Json memory_errors(const SystemFiles& files) {
  const auto names = files.entries(kControllers);
  for (const std::string& name : names) {
    const std::string file = kControllers + "/" + name + "/ue_count";
    if (!files.exists(file)) continue;
    return files.opens(file) ? Json(kReadable) : unreadable("no permission to read /" + file);
  }
  return kNone;  // no driver is loaded, as in virtual machines
}

Json firmware_tables(const SystemFiles& files) {
  if (!files.exists(kTables)) return kNone;
  return files.opens(kTables) ? Json(kReadable) : unreadable("no permission to read /" + kTables);
}

Json pci_configuration(const SystemFiles& files) {
  for (const std::string& device : files.entries(kPci)) {
    const std::string folder = kPci + "/" + device + "/";
    if (!files.text(folder + "class", 32).value_or("").starts_with("0x0604")) continue;
    const auto space = files.bytes(folder + "config", 4096);
    if (space && space->size() > kWithoutRights) return kReadable;
    return unreadable("no permission to read more than 64 bytes of a PCI bridge's configuration");
  }
  return kNone;
}

}  // namespace

Json read_access_facts(const SystemFiles& files) {
  return {{"kernel_log", kernel_log(files)},
          {"memory_errors", memory_errors(files)},
          {"firmware_tables", firmware_tables(files)},
          {"pci_configuration", pci_configuration(files)}};
}

namespace {

const std::string kThp = "sys/kernel/mm/transparent_hugepage/enabled";
const std::string kHugePages = "sys/kernel/mm/hugepages";

/// "kB" lines of /proc/meminfo.
std::optional<std::int64_t> kilobytes(std::string_view text) {
  if (!text.ends_with(" kB")) return {};
  const auto value = parse_number(text.substr(0, text.size() - 3));
  return value ? std::optional(*value * 1024) : std::nullopt;
}

std::optional<std::int64_t> memory_bytes(const SystemFiles& files) {
  const auto total = field(files.text("proc/meminfo").value_or(""), "MemTotal");
  return total ? kilobytes(*total) : std::nullopt;
}

/// The total over NUMA nodes.
std::optional<std::int64_t> memory_of_nodes(const SystemFiles& files) {
  const auto nodes = files.list("sys/devices/system/node/online");
  if (!nodes) return {};
  std::int64_t sum = 0;
  for (const int node : *nodes) {
    const std::string name = std::to_string(node);
    const auto text = files.text("sys/devices/system/node/node" + name + "/meminfo");
    const auto total = text ? field(*text, "Node " + name + " MemTotal") : std::nullopt;
    const auto bytes = total ? kilobytes(*total) : std::nullopt;
    if (!bytes) return {};
    sum += *bytes;
  }
  return sum;
}

Json huge_pages(const SystemFiles& files) {
  Json pools = Json::array();
  for (const std::string& name : files.entries(kHugePages)) {  // "hugepages-2048kB"
    constexpr std::string_view kPrefix = "hugepages-";
    if (!name.starts_with(kPrefix) || !name.ends_with("kB")) continue;
    const auto size = parse_number(
        std::string_view(name).substr(kPrefix.size(), name.size() - kPrefix.size() - 2));
    if (!size) continue;
    const std::string folder = kHugePages + "/" + name;
    pools.push_back({{"size_bytes", *size * 1024},
                     {"total", or_unreadable(files.number(folder + "/nr_hugepages"))},
                     {"free", or_unreadable(files.number(folder + "/free_hugepages"))}});
  }
  return pools;
}

void add_memory(const SystemFiles& files, Json& facts) {
  facts["memory_bytes"] = or_unreadable(memory_bytes(files));
  facts["memory_of_nodes_bytes"] = or_unreadable(memory_of_nodes(files));
  facts["page_size_bytes"] = sysconf(_SC_PAGESIZE);
  facts["huge_pages"] = huge_pages(files);
  // A kernel without transparent huge pages has no such folder.
  facts["thp"] = files.exists("sys/kernel/mm") && !files.exists(kThp)
                     ? Json(kNone)
                     : or_unreadable(bracketed(files.text(kThp).value_or("")));
}

void add_limits(const SystemFiles& files, Json& facts) {
  const CgroupLimits limits = read_cgroup_limits(files);
  const Json otherwise = limits.readable ? kNone : kUnreadable;
  facts["cpu_quota_cores"] = limits.cpu_cores ? Json(*limits.cpu_cores) : otherwise;
  facts["memory_limit_bytes"] = limits.memory_bytes ? Json(*limits.memory_bytes) : otherwise;
  facts["memlock_bytes"] = read_memlock_bytes(files);
}

/// Share of all CPU time since boot that the hypervisor took.
Json stolen_share(const SystemFiles& files) {
  const auto cpu = read_cpu_account(files);
  return cpu && cpu->all_s > 0.0 ? Json(cpu->steal_s / cpu->all_s) : Json(kUnreadable);
}

/// "0.64 0.48 0.31 2/96 19043": the average of one minute, and the number of runnable tasks.
void add_load(const SystemFiles& files, int own_processes, Json& facts) {
  std::istringstream in(files.text("proc/loadavg").value_or(""));
  double minute = 0.0, five = 0.0, fifteen = 0.0;
  int running = 0;
  if (in >> minute >> five >> fifteen >> running && running >= 0) {
    facts["load_average"] = minute;
    facts["others_running"] = std::max(0, running - own_processes);
  } else {
    facts["load_average"] = kUnreadable;
    facts["others_running"] = kUnreadable;
  }
}

bool has_flag(const std::string& flags, const std::string& flag) {
  return (" " + flags + " ").find(" " + flag + " ") != std::string::npos;
}

/// The hypervisor's name if known, else "virtual machine" or "none".
Json virtualization(const SystemFiles& files) {
  if (const auto type = files.text("sys/hypervisor/type")) return *type;
  const auto flags = field(first_processor(files), "flags");
  const std::string vendor = files.text(kDmi + "sys_vendor").value_or("");
  bool guest = flags && has_flag(*flags, "hypervisor");
  // Arm has no such flag: guests are recognised by the board vendor.
  for (const char* name : {"QEMU", "VMware", "Xen", "innotek", "Amazon EC2", "Google", "Parallels"})
    guest = guest || (!flags && vendor.starts_with(name));
  if (guest) return "virtual machine";
  return flags || !vendor.empty() ? kNone : kUnreadable;
}

void add_machine(const SystemFiles& files, Json& facts) {
  facts["hostname"] = or_unreadable(files.text("proc/sys/kernel/hostname"));
  facts["kernel"] = or_unreadable(files.text("proc/sys/kernel/osrelease"));
  std::string os = field(files.text("etc/os-release").value_or(""), "PRETTY_NAME").value_or("");
  std::erase(os, '"');
  facts["os"] = os.empty() ? kUnreadable : os;
  facts["product_vendor"] = or_unreadable(files.text(kDmi + "sys_vendor"));
  facts["product"] = or_unreadable(files.text(kDmi + "product_name"));
  facts["product_serial"] = or_unreadable(files.text(kDmi + "product_serial"));
  facts["virtualization"] = virtualization(files);
  facts["infiniband"] = files.entries("sys/class/infiniband");
  facts["clocksource"] =
      or_unreadable(files.text("sys/devices/system/clocksource/clocksource0/current_clocksource"));
}

}  // namespace

Json read_memory_bytes(const SystemFiles& files) { return or_unreadable(memory_bytes(files)); }

Json read_memlock_bytes(const SystemFiles& files) {
  // "Max locked memory         8388608              8388608              bytes"; the first is ours.
  const auto line = field(files.text("proc/self/limits").value_or(""), "Max locked memory");
  const std::string memlock = line ? line->substr(0, line->find(' ')) : "";
  return memlock == "unlimited" ? Json(kNone) : or_unreadable(parse_number(memlock));
}

Json read_host_facts(const std::filesystem::path& root, int own_processes) {
  const SystemFiles files(root);
  Json facts = Json::object();
  add_machine(files, facts);
  add_cpu_facts(files, facts);
  add_memory(files, facts);
  add_limits(files, facts);
  facts["steal_share"] = stolen_share(files);
  add_load(files, own_processes, facts);
  facts["access"] = read_access_facts(files);
  facts["warnings"] = host_warnings(facts);
  return facts;
}

}  // namespace bench

#include "devices/facts/cpu_facts.h"

#include <sched.h>
#include <sys/utsname.h>

#include <cerrno>
#include <memory>
#include <set>
#include <string>

#include "core/error.h"
#include "core/text.h"

namespace bench {

std::vector<int> allowed_cpus() {
  // The kernel rejects a mask smaller than its number of processors.
  for (int most = CPU_SETSIZE;; most *= 2) {
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(most)), [](cpu_set_t* mask) { CPU_FREE(mask); });
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      constexpr int kMost = 1 << 20;
      if (errno == EINVAL && most < kMost) continue;
      throw_errno("read the CPU affinity mask");
    }
    std::vector<int> cpus;
    for (int cpu = 0; cpu < most; ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cpus.push_back(cpu);
    return cpus;
  }
}

namespace {

const std::string kCpuFolder = "sys/devices/system/cpu";

std::string cpu_folder(int cpu) { return kCpuFolder + "/cpu" + std::to_string(cpu); }

/// Arm cores report only numbers; these are common server cores.
std::string arm_model(const std::string& implementer, const std::string& part) {
  struct Core {
    const char *implementer, *part, *name;
  };
  static constexpr Core kCores[] = {
      {"0x41", "0xd0c", "Neoverse-N1"}, {"0x41", "0xd40", "Neoverse-V1"},
      {"0x41", "0xd49", "Neoverse-N2"}, {"0x41", "0xd4f", "Neoverse-V2"},
      {"0x41", "0xd83", "Neoverse-V3"}, {"0x41", "0xd8e", "Neoverse-N3"},
      {"0xc0", "0xac3", "Ampere-1"},    {"0xc0", "0xac4", "Ampere-1a"},
      {"0x46", "0x001", "A64FX"},       {"0x48", "0xd01", "Kunpeng-920"}};
  for (const Core& core : kCores)
    if (implementer == core.implementer && part == core.part) return core.name;
  return "implementer " + implementer + " part " + part;
}

void add_model(const std::string& cpuinfo, Json& facts) {
  const auto implementer = field(cpuinfo, "CPU implementer");
  if (implementer && !field(cpuinfo, "vendor_id")) {
    facts["vendor"] = *implementer;
    facts["family"] = or_unreadable(field(cpuinfo, "CPU architecture"));
    facts["model"] = or_unreadable(field(cpuinfo, "CPU part"));
    facts["stepping"] = or_unreadable(field(cpuinfo, "CPU revision"));
    facts["cpu_model"] = arm_model(*implementer, field(cpuinfo, "CPU part").value_or("?"));
    return;
  }
  facts["vendor"] = or_unreadable(field(cpuinfo, "vendor_id"));
  facts["family"] = or_unreadable(field(cpuinfo, "cpu family"));
  facts["model"] = or_unreadable(field(cpuinfo, "model"));
  facts["stepping"] = or_unreadable(field(cpuinfo, "stepping"));
  facts["microcode"] = or_unreadable(field(cpuinfo, "microcode"));
  facts["cpu_model"] = or_unreadable(field(cpuinfo, "model name"));
}

/// Number of processor groups by a file that lists the members of a processor's group. Reads one
/// file per group, not per processor.
std::optional<int> count_groups(const SystemFiles& files, const std::vector<int>& online,
                                const std::string& file) {
  std::set<int> seen;
  int groups = 0;
  for (const int cpu : online) {
    if (seen.contains(cpu)) continue;
    const auto members = files.list(cpu_folder(cpu) + "/topology/" + file);
    if (!members) return {};
    seen.insert(cpu);
    seen.insert(members->begin(), members->end());
    ++groups;
  }
  return groups;
}

void add_counts(const SystemFiles& files, Json& facts) {
  std::optional<int> threads, cores, packages;
  if (const auto online = files.list(kCpuFolder + "/online")) {
    threads = static_cast<int>(online->size());
    cores = count_groups(files, *online, "thread_siblings_list");
    packages = count_groups(files, *online, "core_siblings_list");
  }
  facts["hardware_threads"] = or_unreadable(threads);
  facts["cores"] = or_unreadable(cores);
  facts["packages"] = or_unreadable(packages);

  const std::string status = files.text("proc/self/status").value_or("");
  const auto allowed = field(status, "Cpus_allowed_list");
  const auto numbers = allowed ? parse_list(*allowed) : std::nullopt;
  facts["allowed_cpu_list"] = or_unreadable(allowed);
  facts["allowed_cpus"] = numbers ? Json(numbers->size()) : Json(kUnreadable);

  const auto nodes = files.list("sys/devices/system/node/online");
  facts["numa_nodes"] = nodes ? Json(nodes->size()) : Json(kUnreadable);
}

/// All governors of the online processors: "performance" or "performance,powersave".
Json governor(const SystemFiles& files) {
  const auto policies = files.entries(kCpuFolder + "/cpufreq");
  std::set<std::string> found;
  bool any = false;
  for (const std::string& policy : policies) {
    if (!policy.starts_with("policy")) continue;
    any = true;
    if (const auto name = files.text(kCpuFolder + "/cpufreq/" + policy + "/scaling_governor"))
      found.insert(*name);
  }
  if (!any) return files.exists(kCpuFolder) ? kNone : kUnreadable;
  const std::string names = join({found.begin(), found.end()}, ",");
  return names.empty() ? kUnreadable : names;
}

Json turbo(const SystemFiles& files) {
  if (const auto off = files.number(kCpuFolder + "/intel_pstate/no_turbo"))
    return *off == 0 ? "on" : "off";
  if (const auto on = files.number(kCpuFolder + "/cpufreq/boost")) return *on != 0 ? "on" : "off";
  return kUnreadable;
}

Json smt(const SystemFiles& files) {
  const auto active = files.number(kCpuFolder + "/smt/active");
  return active ? Json(*active != 0 ? "on" : "off") : Json(kUnreadable);
}

}  // namespace

std::string first_processor(const SystemFiles& files) {
  const std::string text = files.text("proc/cpuinfo", 4096).value_or("");
  return text.substr(0, text.find("\n\n"));
}

void add_cpu_facts(const SystemFiles& files, Json& facts) {
  utsname name{};
  facts["architecture"] = uname(&name) == 0 ? Json(name.machine) : Json(kUnreadable);
  add_model(first_processor(files), facts);
  add_counts(files, facts);
  facts["governor"] = governor(files);
  facts["turbo"] = turbo(files);
  facts["smt"] = smt(files);
}

}  // namespace bench

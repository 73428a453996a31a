#include "probes/facts/host_facts.h"

#include <unistd.h>

#include <array>
#include <sstream>

#include "probes/facts/access_facts.h"
#include "probes/facts/cgroup_limits.h"
#include "probes/facts/cpu_account.h"
#include "probes/facts/cpu_facts.h"
#include "probes/facts/host_hurts.h"
#include "probes/facts/system_files.h"

namespace bench {
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

/// What the NUMA nodes hold in all.
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

/// The word in brackets: "always [madvise] never".
Json chosen(const std::optional<std::string>& text) {
  if (!text) return kUnreadable;
  const auto open = text->find('[');
  const auto close = text->find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return kUnreadable;
  return text->substr(open + 1, close - open - 1);
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
  facts["thp"] =
      files.exists("sys/kernel/mm") && !files.exists(kThp) ? Json(kNone) : chosen(files.text(kThp));
}

void add_limits(const SystemFiles& files, Json& facts) {
  const CgroupLimits limits = read_cgroup_limits(files);
  const Json otherwise = limits.readable ? kNone : kUnreadable;
  facts["cpu_quota_cores"] = limits.cpu_cores ? Json(*limits.cpu_cores) : otherwise;
  facts["memory_limit_bytes"] = limits.memory_bytes ? Json(*limits.memory_bytes) : otherwise;
  facts["memlock_bytes"] = read_memlock_bytes(files);
}

/// Share of all CPU time since boot that the hypervisor gave to others.
Json stolen_share(const SystemFiles& files) {
  const auto cpu = read_cpu_account(files);
  return cpu && cpu->all_s > 0.0 ? Json(cpu->steal_s / cpu->all_s) : Json(kUnreadable);
}

/// "0.64 0.48 0.31 2/96 19043": one minute's average, and how many can run at this moment.
void add_load(const SystemFiles& files, int own_processes, Json& facts) {
  std::istringstream in(files.text("proc/loadavg").value_or(""));
  double minute = 0.0, five = 0.0, fifteen = 0.0;
  int running = 0;
  if (in >> minute >> five >> fifteen >> running) {
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

/// "virtual machine" or "none"; the hypervisor's name where it says one.
Json virtualization(const SystemFiles& files) {
  if (const auto type = files.text("sys/hypervisor/type")) return *type;
  const auto flags = field(first_processor(files), "flags");
  const std::string vendor = files.text(kDmi + "sys_vendor").value_or("");
  bool guest = flags && has_flag(*flags, "hypervisor");
  // Arm has no such flag; the vendor of the board gives a guest away.
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

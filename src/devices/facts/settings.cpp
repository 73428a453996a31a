#include "devices/facts/settings.h"

#include <algorithm>
#include <array>

#include "core/text.h"
#include "devices/facts/host_facts.h"
#include "devices/facts/unreadable.h"

namespace bench {
namespace {

// PCIe features that redirect traffic between two devices through the processor: access control
// (ACS) with redirection, and an IOMMU that translates.

const std::string kDevices = "sys/bus/pci/devices";
const std::string kGroups = "sys/kernel/iommu_groups";
constexpr std::size_t kMostNamed = 32;

// Configuration space (PCI Express Base 5.0, 7.6 and 7.7.11).
constexpr std::size_t kExtended = 0x100;  // the first extended capability
constexpr std::size_t kSpace = 4096;
constexpr unsigned kAcsCapability = 0x000d;
constexpr std::size_t kAcsControl = 6;       // from the capability's beginning
constexpr unsigned kRedirect = 0x04 | 0x08;  // of peer requests and completions, to the root

unsigned word_at(const std::string& space, std::size_t at) {
  return static_cast<unsigned char>(space[at]) |
         static_cast<unsigned>(static_cast<unsigned char>(space[at + 1])) << 8;
}

/// The ACS control word; 0 without ACS. The space is larger than kExtended.
unsigned acs_control(const std::string& space) {
  std::size_t at = kExtended;
  // Bounds the steps, in case the list is circular.
  for (std::size_t steps = 0; steps < kSpace / 8 && at >= kExtended; ++steps) {
    if (at + 8 > space.size()) return 0;
    if (word_at(space, at) == kAcsCapability) return word_at(space, at + kAcsControl);
    at = word_at(space, at + 2) >> 4;
  }
  return 0;
}

Json acs(const SystemFiles& files) {
  const auto devices = files.entries(kDevices);
  if (devices.empty()) return unreadable("no " + kDevices);
  std::size_t bridges = 0, readable = 0;
  Json redirecting = Json::array();
  for (const std::string& device : devices) {
    const std::string folder = kDevices + "/" + device + "/";
    if (!files.text(folder + "class", 32).value_or("").starts_with("0x0604")) continue;
    ++bridges;
    const auto space = files.bytes(folder + "config", kSpace);
    if (!space || space->size() <= kExtended) continue;  // unprivileged: 64 bytes
    ++readable;
    if ((acs_control(*space) & kRedirect) != 0 && redirecting.size() < kMostNamed)
      redirecting.push_back(device);
  }
  if (bridges > 0 && readable == 0)
    return unreadable("the PCI bridge configuration is readable by root only");
  return {{"bridges", bridges}, {"readable", readable}, {"redirecting", redirecting}};
}

Json iommu(const SystemFiles& files) {
  if (!files.exists(kGroups)) return unreadable("no " + kGroups);
  const auto groups = files.entries(kGroups);
  Json facts = {{"groups", groups.size()}};
  Json types = Json::object();  // "DMA", "DMA-FQ": translated; "identity": passed through
  for (const std::string& group : groups) {
    const std::string type = files.text(kGroups + "/" + group + "/type", 32).value_or("unreadable");
    types[type] = types.value(type, 0) + 1;
  }
  facts["types"] = types;
  return facts;
}

/// Related boot options: "iommu=pt", "pci=disable_acs_redir=...".
Json kernel_options(const SystemFiles& files) {
  const auto line = files.text("proc/cmdline");
  if (!line) return unreadable("no proc/cmdline");
  Json options = Json::array();
  for (const std::string_view word : words_of(*line))
    if (options.size() < kMostNamed &&
        (word.find("iommu") != std::string_view::npos || word.starts_with("pci")))
      options.push_back(word);
  return options;
}

}  // namespace

void add_bridge_facts(const SystemFiles& files, Json& facts) {
  facts["acs"] = acs(files);
  facts["iommu"] = iommu(files);
  facts["kernel_options"] = kernel_options(files);
}

namespace {

const std::string kVulnerabilities = "sys/devices/system/cpu/vulnerabilities";

/// Below proc/sys; net.* are those of the rank's network namespace.
constexpr std::array<const char*, 16> kSysctls = {
    "kernel.numa_balancing",      "kernel.nmi_watchdog", "kernel.perf_event_paranoid",
    "kernel.sched_rt_runtime_us", "vm.swappiness",       "vm.zone_reclaim_mode",
    "vm.overcommit_memory",       "vm.max_map_count",    "vm.nr_hugepages",
    "net.core.rmem_max",          "net.core.wmem_max",   "net.core.somaxconn",
    "net.ipv4.tcp_rmem",          "net.ipv4.tcp_wmem",   "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing"};

struct Named {
  const char *name, *path;
};
constexpr std::array<Named, 4> kFiles = {
    {{"thp_defrag", "sys/kernel/mm/transparent_hugepage/defrag"},
     {"idle_driver", "sys/devices/system/cpu/cpuidle/current_driver"},
     {"pstate_driver", "sys/devices/system/cpu/cpufreq/policy0/scaling_driver"},
     {"energy_preference",
      "sys/devices/system/cpu/cpufreq/policy0/energy_performance_preference"}}};

/// The selected word, or the whole text with single spaces ("4096\t131072\t6291456").
Json setting(const SystemFiles& files, const std::string& path) {
  const Json value = text_or_why(files, path);
  if (!value.is_string()) return value;
  const auto& text = value.get_ref<const std::string&>();
  const auto words = words_of(text);
  return bracketed(text).value_or(join({words.begin(), words.end()}, " "));
}

/// "off", "passed through", "translates (DMA)", or several of these.
Json iommu_mode(const Json& iommu) {
  if (is_unreadable(iommu)) return "off";  // no groups, no IOMMU
  const Json types = iommu.value("types", Json::object());
  if (types.empty()) return "off";
  if (types.contains("unreadable")) return unreadable("group types are readable by root only");
  std::string modes;
  for (const auto& [type, count] : types.items()) {
    const std::string mode = type == "identity" ? "passed through" : "translates (" + type + ")";
    modes += (modes.empty() ? "" : ", ") + mode;
  }
  return modes;
}

void add_bridges(const SystemFiles& files, Json& settings) {
  Json bridges = Json::object();
  add_bridge_facts(files, bridges);
  settings["iommu"] = iommu_mode(bridges["iommu"]);
  const Json& acs = bridges["acs"];
  settings["acs_redirecting_bridges"] =
      is_unreadable(acs) ? acs : Json(acs.at("redirecting").size());
}

/// Options that name a host, disk or file, or hold values of a single machine.
bool is_of_one_host(const std::string& name, const std::string& value) {
  static constexpr std::array<const char*, 15> kOwn = {
      "BOOT_IMAGE",        "BOOTIF",  "initrd", "root",      "resume", "ip",   "nfsroot",
      "hostname",          "rd.luks", "rd.md",  "rd.lvm.lv", "ds",     "wwid", "systemd.hostname",
      "systemd.machine_id"};
  const bool own = std::ranges::any_of(
      kOwn, [&](const std::string& one) { return name == one || name.starts_with(one + "."); });
  return own || name.find("uuid") != std::string::npos || value.starts_with("UUID=") ||
         value.starts_with("LABEL=");
}

}  // namespace

Json text_or_why(const SystemFiles& files, const std::string& path) {
  if (const auto text = files.text(path, 4096)) return *text;
  if (!files.exists(path)) return "none";
  return unreadable("no permission, or hidden by the kernel (/" + path + ")");
}

Json known_of_host(const Json& host, const char* key) {
  const Json value = host.value(key, Json());
  return value.is_null() || value == "unreadable" ? unreadable("not reported by the kernel")
                                                  : value;
}

std::optional<std::string> bracketed(const std::string& text) {
  const auto open = text.find('[');
  const auto close = text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

Json read_settings(const SystemFiles& files, const Json& host) {
  Json settings = Json::object();
  for (const char* name :
       {"governor", "turbo", "smt", "thp", "clocksource", "virtualization", "page_size_bytes"})
    settings[name] = known_of_host(host, name);
  for (const Named& one : kFiles) settings[one.name] = setting(files, one.path);
  for (const std::string name : kSysctls) {
    std::string path = "proc/sys/" + name;
    std::replace(path.begin() + 9, path.end(), '.', '/');
    settings["sysctl." + name] = setting(files, path);
  }
  for (const std::string& name : files.entries(kVulnerabilities))
    settings["mitigation." + name] = setting(files, kVulnerabilities + "/" + name);
  const Json memlock = read_memlock_bytes(files);
  settings["memlock_bytes"] = memlock == "unreadable" ? unreadable("no proc/self/limits") : memlock;
  add_bridges(files, settings);
  return settings;
}

Json read_kernel_options(const SystemFiles& files) {
  const auto line = files.text("proc/cmdline");
  if (!line) return unreadable("no proc/cmdline");
  Json options = Json::object();
  for (const std::string_view word : words_of(*line)) {
    if (word == "--") break;  // the rest is for init
    const auto equals = word.find('=');
    const std::string name(word.substr(0, equals));
    const std::string value(equals == std::string_view::npos ? "set" : word.substr(equals + 1));
    if (is_of_one_host(name, value)) continue;
    options[name] = options.contains(name) ? options[name].get<std::string>() + "," + value : value;
  }
  return options;
}

}  // namespace bench

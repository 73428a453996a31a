#include "probes/facts/preflight_facts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "probes/facts/host_facts.h"
#include "probes/facts/settings.h"
#include "probes/facts/unreadable.h"

namespace bench {
namespace {

constexpr std::size_t kMostProcesses = 100'000;
// The kernel cuts names of processes to fifteen letters.
constexpr const char* kFabricManager = "nv-fabricmanage";
constexpr const char* kPersistenced = "nvidia-persiste";

/// The array of GPUs; an empty one where there is none.
const Json& gpus_of(const Json& gpu_facts) {
  static const Json none = Json::array();
  const auto found = gpu_facts.is_object() ? gpu_facts.find("gpus") : gpu_facts.end();
  return found != gpu_facts.end() && found->is_array() ? *found : none;
}

/// Processes of others on one GPU; adds them to `found`, or why they are not known.
void add_foreign(const SystemFiles& files, const Json& gpu, const std::set<int>& own, Json& found) {
  for (const char* kind : {"compute_processes", "graphics_processes"}) {
    const auto list = gpu.find(kind);
    if (list == gpu.end() || !list->is_array()) continue;
    for (const Json& process : *list) {
      const int pid = process.value("pid", 0);
      if (own.contains(pid)) continue;
      const auto name = files.text("proc/" + std::to_string(pid) + "/comm", 64);
      found.push_back({{"gpu", gpu.value("index", -1)},
                       {"pid", pid},
                       {"used_bytes", process.value("used_bytes", Json())},
                       {"name", name ? Json(*name) : unreadable("in another container")}});
    }
  }
}

Json foreign_processes(const SystemFiles& files, const Json& gpu_facts, const std::set<int>& own) {
  if (is_unreadable(gpu_facts)) return gpu_facts;
  Json found = Json::array();
  for (const Json& gpu : gpus_of(gpu_facts)) {
    const Json compute = gpu.value("compute_processes", Json());
    if (is_unreadable(compute)) return compute;
    add_foreign(files, gpu, own, found);
  }
  return found;
}

/// The indices of the GPUs whose driver state is thrown away when nobody uses them.
Json persistence_off(const Json& gpu_facts) {
  if (is_unreadable(gpu_facts)) return gpu_facts;
  Json off = Json::array();
  for (const Json& gpu : gpus_of(gpu_facts)) {
    const Json mode = gpu.value("persistence_mode", Json());
    if (is_unreadable(mode)) return mode;
    if (mode == false) off.push_back(gpu.value("index", -1));
  }
  return off;
}

/// Is a process of that name to be seen from here?
bool runs(const SystemFiles& files, const std::string& name) {
  std::size_t seen = 0;
  for (const std::string& pid : files.entries("proc")) {
    if (!parse_number(pid)) continue;
    if (files.text("proc/" + pid + "/comm", 64) == name) return true;
    if (++seen > kMostProcesses) break;
  }
  return false;
}

/// The driver of NVSwitch makes one file for each; with fourth-generation ones there is only the
/// control file of the fabric manager.
bool has_switches(const SystemFiles& files) {
  const auto devices = files.entries("dev");
  return std::any_of(devices.begin(), devices.end(), [](const std::string& name) {
    return name.starts_with("nvidia-nvswitch") && name != "nvidia-nvswitchctl";
  });
}

Json peer_memory(const SystemFiles& files) {
  const auto modules = files.text("proc/modules", 1u << 20);
  if (!modules) return unreadable("no proc/modules");
  for (const char* name : {"nvidia_peermem", "nv_peer_mem"})
    if (modules->starts_with(std::string(name) + " ") ||
        modules->find("\n" + std::string(name) + " ") != std::string::npos)
      return name;
  return "none";
}

/// "65536k" in bytes; k, m, g as mount(8) has them.
std::optional<std::int64_t> mount_size(const std::string& text) {
  if (text.empty()) return {};
  const auto letter = std::string("kmg").find(text.back());
  const auto value =
      parse_number(letter == std::string::npos ? text : text.substr(0, text.size() - 1));
  if (!value || *value < 0 || *value > (std::int64_t{1} << 40)) return {};
  constexpr std::array<std::int64_t, 3> kFactors = {1 << 10, 1 << 20, 1 << 30};
  return letter == std::string::npos ? *value : *value * kFactors[letter];
}

/// "tmpfs /dev/shm tmpfs rw,nosuid,nodev,size=65536k 0 0"; without a size it is half of the memory.
Json shared_memory_bytes(const SystemFiles& files) {
  std::istringstream mounts(files.text("proc/mounts", 1u << 20).value_or(""));
  std::string line;
  while (std::getline(mounts, line)) {
    std::istringstream words(line);
    std::string device, place, type, options;
    if (!(words >> device >> place >> type >> options) || place != "/dev/shm") continue;
    const auto begin = ("," + options).find(",size=");
    if (begin == std::string::npos) {
      const Json memory = read_memory_bytes(files);
      return memory.is_number() ? Json(memory.get<std::int64_t>() / 2)
                                : unreadable("memory size unknown");
    }
    const std::string size = options.substr(begin + 5);
    const auto bytes = mount_size(size.substr(0, size.find(',')));
    return bytes ? Json(*bytes) : unreadable("invalid size in /proc/mounts");
  }
  return unreadable("/dev/shm is not mounted");
}

}  // namespace

Json read_preflight_facts(const SystemFiles& files, const Json& gpu_facts,
                          const std::set<int>& own_processes) {
  Json facts = {{"foreign_processes", foreign_processes(files, gpu_facts, own_processes)},
                {"persistence_off", persistence_off(gpu_facts)},
                {"persistence_daemon", runs(files, kPersistenced)},
                {"nvswitches", has_switches(files)},
                {"fabric_manager", runs(files, kFabricManager)},
                {"peer_memory", peer_memory(files)},
                {"infiniband_cards", files.entries("sys/class/infiniband").size()},
                {"shared_memory_bytes", shared_memory_bytes(files)},
                {"memlock_bytes", read_memlock_bytes(files)},
                {"gpus", gpus_of(gpu_facts).size()}};
  add_bridge_facts(files, facts);
  facts["warnings"] = preflight_warnings(facts);
  return facts;
}

}  // namespace bench

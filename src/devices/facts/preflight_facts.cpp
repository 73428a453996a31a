#include "devices/facts/preflight_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include "core/text.h"
#include "devices/facts/host_facts.h"
#include "devices/facts/settings.h"
#include "devices/facts/unreadable.h"

namespace bench {
namespace {

// Warnings about a GPU host: what is wrong, its effect and the remedy.

// NCCL puts a few tens of MiB for each pair of ranks there; Docker's default of 64 MiB is too
// small.
constexpr double kSmallSharedMemory = 1e9;

using Warnings = std::vector<std::string>;

bool is_array_with_entries(const Json& fact) { return fact.is_array() && !fact.empty(); }

/// "GPU 1: python3 with pid 4711, GPU 2: one with pid 99".
std::string who(const Json& processes) {
  constexpr std::size_t kMostShown = 4;
  std::vector<std::string> named;
  for (const Json& process : processes) {
    if (named.size() == kMostShown) {
      named.push_back(fmt::format("and {} more", processes.size() - kMostShown));
      break;
    }
    const Json& name = process.at("name");
    named.push_back(fmt::format("GPU {}: {} with pid {}", process.at("gpu").get<int>(),
                                name.is_string() ? name.get<std::string>() : "one",
                                process.at("pid").get<int>()));
  }
  return join(named, ", ");
}

void check_gpus(const Json& facts, Warnings& warnings) {
  const Json& foreign = facts.at("foreign_processes");
  if (is_array_with_entries(foreign))
    warnings.push_back(
        fmt::format("{} foreign process{} on the GPUs ({}), which lowers the results; stop it or "
                    "wait for it to "
                    "end",
                    foreign.size(), foreign.size() == 1 ? " is" : "es are", who(foreign)));
  const Json& off = facts.at("persistence_off");
  if (is_array_with_entries(off) && facts.at("persistence_daemon") != true)
    warnings.push_back(
        fmt::format("persistence mode is off on {} GPUs: every first use reloads the driver, which "
                    "takes seconds "
                    "and resets the clocks; run `nvidia-smi -pm 1` or start nvidia-persistenced",
                    off.size()));
}

void check_software(const Json& facts, Warnings& warnings) {
  if (facts.at("nvswitches") == true && facts.at("fabric_manager") != true)
    warnings.push_back(
        "this host has NVSwitches but no fabric manager was found: CUDA may not start, or GPUs may "
        "not reach each other; run `systemctl start nvidia-fabricmanager` (it is invisible from a "
        "container)");
  if (facts.at("peer_memory") == "none" && facts.at("infiniband_cards") > 0 && facts.at("gpus") > 0)
    warnings.push_back(
        "nvidia_peermem is not loaded: without dma-buf support, NICs move GPU data through host "
        "memory; run `modprobe nvidia_peermem`");
  const Json& shared = facts.at("shared_memory_bytes");
  if (shared.is_number() && shared < kSmallSharedMemory)
    warnings.push_back(fmt::format(
        "/dev/shm is only {}: NCCL and data loaders fail or slow down; enlarge it (docker run "
        "--shm-size=16g)",
        format(Bytes{shared.get<double>()})));
}

void check_bridges(const Json& facts, Warnings& warnings) {
  const Json& acs = facts.at("acs");
  const Json redirecting = acs.value("redirecting", Json::array());
  if (!redirecting.empty())
    warnings.push_back(fmt::format(
        "{} PCI bridges redirect peer-to-peer traffic to the CPU (ACS), e.g. {}: peer copies and "
        "GPUDirect lose bandwidth; disable ACS in the firmware or with setpci",
        redirecting.size(), redirecting[0].get<std::string>()));
  const Json types = facts.at("iommu").value("types", Json::object());
  const int translated = types.value("DMA", 0) + types.value("DMA-FQ", 0);
  if (translated > 0 && facts.at("gpus") > 0)
    warnings.push_back(fmt::format(
        "the IOMMU translates for {} device groups: peer copies may go through the CPU; boot with "
        "iommu=pt",
        translated));
}

std::vector<std::string> preflight_warnings(const Json& facts) {
  Warnings warnings;
  check_gpus(facts, warnings);
  check_software(facts, warnings);
  check_bridges(facts, warnings);
  return warnings;
}

constexpr std::size_t kMostProcesses = 100'000;
// The kernel truncates process names to fifteen characters.
constexpr const char* kFabricManager = "nv-fabricmanage";
constexpr const char* kPersistenced = "nvidia-persiste";

/// The array of GPUs; empty if there is none.
const Json& gpus_of(const Json& gpu_facts) {
  static const Json none = Json::array();
  const auto found = gpu_facts.is_object() ? gpu_facts.find("gpus") : gpu_facts.end();
  return found != gpu_facts.end() && found->is_array() ? *found : none;
}

/// Appends the foreign processes on one GPU.
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

/// Indices of the GPUs whose driver state is discarded while unused.
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

/// Whether a process of that name is visible.
bool runs(const SystemFiles& files, const std::string& name) {
  std::size_t seen = 0;
  for (const std::string& pid : files.entries("proc")) {
    if (!parse_number(pid)) continue;
    if (files.text("proc/" + pid + "/comm", 64) == name) return true;
    if (++seen > kMostProcesses) break;
  }
  return false;
}

/// The driver creates one file per NVSwitch; for the fourth generation only the control file of the
/// fabric manager exists.
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

/// "65536k" in bytes; suffixes k, m, g as in mount(8).
std::optional<std::int64_t> mount_size(const std::string& text) {
  if (text.empty()) return {};
  const auto letter = std::string("kmg").find(text.back());
  const auto value =
      parse_number(letter == std::string::npos ? text : text.substr(0, text.size() - 1));
  if (!value || *value < 0 || *value > (std::int64_t{1} << 40)) return {};
  constexpr std::array<std::int64_t, 3> kFactors = {1 << 10, 1 << 20, 1 << 30};
  return letter == std::string::npos ? *value : *value * kFactors[letter];
}

/// "tmpfs /dev/shm tmpfs rw,nosuid,nodev,size=65536k 0 0"; the default size is half of the memory.
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

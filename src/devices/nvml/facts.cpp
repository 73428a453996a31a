#include "devices/nvml/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "devices/nvml/reader.h"

namespace bench::nvml {
namespace {

using Named = std::pair<const char*, Field>;

template <std::size_t N>
void add_fields(const Reader& gpu, const std::array<Named, N>& named, Json& facts,
                double factor = 1.0) {
  std::array<Field, N> wanted{};
  for (std::size_t i = 0; i < N; ++i) wanted[i] = named[i].second;
  const auto values = gpu.fields(wanted);
  for (const auto& [name, field] : named) {
    const Json& value = values.at(field);
    const bool scale = factor != 1.0 && value.is_number();
    facts[name] = scale ? Json(value.get<double>() * factor) : value;
  }
}

constexpr std::array<Named, 10> kMemoryFields{
    {{"ecc_corrected_volatile", kEccCorrectedVolatile},
     {"ecc_uncorrected_volatile", kEccUncorrectedVolatile},
     {"ecc_corrected_aggregate", kEccCorrectedAggregate},
     {"ecc_uncorrected_aggregate", kEccUncorrectedAggregate},
     {"remapped_rows_corrected", kRemappedCorrected},
     {"remapped_rows_uncorrected", kRemappedUncorrected},
     {"remapped_rows_pending", kRemappedPending},
     {"remapped_rows_failed", kRemappedFailure},
     {"memory_temperature_c", kMemoryTemperature},
     {"recovery_action", kRecoveryAction}}};

constexpr std::array<Named, 8> kThrottleFields{
    {{"throttled_power_s", kThrottlePower},
     {"throttled_thermal_s", kThrottleThermal},
     {"throttled_sync_boost_s", kThrottleSyncBoost},
     {"throttled_board_s", kThrottleBoard},
     {"throttled_reliability_s", kThrottleReliability},
     {"throttled_software_thermal_s", kThrottleSoftwareThermal},
     {"throttled_hardware_thermal_s", kThrottleHardwareThermal},
     {"throttled_power_brake_s", kThrottlePowerBrake}}};

constexpr std::array<Named, 4> kPcieFields{{{"pcie_replays", kPcieReplays},
                                            {"pcie_correctable_errors", kPcieCorrectableErrors},
                                            {"pcie_non_fatal_errors", kPcieNonFatalErrors},
                                            {"pcie_fatal_errors", kPcieFatalErrors}}};

constexpr std::array<Named, 5> kNvlinkFields{{{"links", kNvlinkLinkCount},
                                              {"crc_flit_errors", kNvlinkCrcFlitErrors},
                                              {"crc_data_errors", kNvlinkCrcDataErrors},
                                              {"replay_errors", kNvlinkReplayErrors},
                                              {"recovery_errors", kNvlinkRecoveryErrors}}};

constexpr std::array<const char*, 9> kReasons = {
    "idle",       "application_clocks", "sw_power_cap",   "hw_slowdown",   "sync_boost",
    "sw_thermal", "hw_thermal",         "hw_power_brake", "display_clocks"};

/// A link of this GPU, with its other end if it is active.
Json link(const Reader& gpu, unsigned number, bool active) {
  Json facts = {{"link", number}, {"active", active}};
  unsigned version = 0;
  PciInfo remote{};
  const Library& nvml = gpu.nvml();
  if (!active) return facts;
  facts["version"] =
      gpu.fact(nvml.nvlink_version(gpu.device(), number, &version), [&] { return version; });
  facts["remote_address"] = gpu.fact(nvml.nvlink_remote(gpu.device(), number, &remote),
                                     [&] { return kernel_address(remote); });
  facts["recovery_events"] = gpu.link_field(kNvlinkRecoveryEvents, number);
  return facts;
}

Json fabric(const Reader& gpu) {
  FabricInfo info{};
  info.version = struct_version<FabricInfo>(2);
  return gpu.fact(gpu.nvml().fabric(gpu.device(), &info), [&] {
    constexpr std::array<const char*, 4> kStates = {"not supported", "not started", "in progress",
                                                    "completed"};
    std::string cluster;
    for (const unsigned char byte : info.cluster) cluster += fmt::format("{:02x}", byte);
    Json facts = {{"state", info.state < kStates.size() ? kStates[info.state] : "unknown"},
                  {"cluster", cluster},
                  {"clique", info.clique},
                  {"health_mask", info.health_mask}};
    if (info.state == 3)
      facts["status"] = info.status == kSuccess ? "ok" : gpu.nvml().text(info.status);
    return facts;
  });
}

void add_memory_health(const Reader& gpu, Json& facts) {
  Memory memory{};
  const Return code = gpu.nvml().memory(gpu.device(), &memory);
  facts["memory_bytes"] = gpu.fact(code, [&] { return memory.total; });
  facts["memory_used_bytes"] = gpu.fact(code, [&] { return memory.used; });
  unsigned now = 0, pending = 0;
  const Return ecc = gpu.nvml().ecc(gpu.device(), &now, &pending);
  facts["ecc"] = gpu.fact(ecc, [&] { return now == 1; });
  facts["ecc_pending"] = gpu.fact(ecc, [&] { return pending == 1; });
  add_fields(gpu, kMemoryFields, facts);
}

void add_throttling(const Reader& gpu, Json& facts) {
  constexpr double kNano = 1e-9;
  unsigned long long reasons = 0;
  facts["event_reasons"] = gpu.fact(gpu.nvml().event_reasons(gpu.device(), &reasons),
                                    [&] { return reason_names(reasons); });
  add_fields(gpu, kThrottleFields, facts, kNano);
}

void add_pcie(const Reader& gpu, Json& facts) {
  const Library& nvml = gpu.nvml();
  PciInfo pci{};
  const Return code = nvml.pci(gpu.device(), &pci);
  facts["pci_address"] = gpu.fact(code, [&] { return kernel_address(pci); });
  facts["pci_id"] =
      gpu.fact(code, [&] { return fmt::format("{:04x}:{:04x}", pci.id & 0xffff, pci.id >> 16); });
  // Idle links drop to a lower generation: only under load does that indicate a bad slot.
  facts["pcie_generation"] = gpu.number(nvml.pcie_generation);
  facts["pcie_generation_max"] = gpu.number(nvml.pcie_generation_max);
  facts["pcie_generation_max_gpu"] = gpu.number(nvml.pcie_generation_gpu);
  facts["pcie_width"] = gpu.number(nvml.pcie_width);
  facts["pcie_width_max"] = gpu.number(nvml.pcie_width_max);
  add_fields(gpu, kPcieFields, facts);
}

void add_nvlink(const Reader& gpu, Json& facts) {
  Json nvlink = Json::object();
  add_fields(gpu, kNvlinkFields, nvlink);
  Json links = Json::array();
  Return last = kSuccess;
  for (unsigned number = 0; number < kMaxLinks; ++number) {
    unsigned active = 0;
    last = gpu.nvml().nvlink_state(gpu.device(), number, &active);
    if (last == kSuccess) links.push_back(link(gpu, number, active == 1));
    if (last != kSuccess && number == 0) break;  // no links, or an old driver
  }
  nvlink["states"] = links.empty() ? gpu.refused(last) : links;
  facts["nvlink"] = nvlink;
  facts["fabric"] = fabric(gpu);
}

constexpr double kMega = 1e6;
constexpr double kMilli = 1e-3;
constexpr unsigned kMostGpus = 256;
constexpr unsigned kMostProcesses = 256;

/// Texts of the system, not of a device.
Json system_text(const Library& nvml, const Call<char*, unsigned>& call) {
  std::array<char, 256> buffer{};
  const Return code = call(buffer.data(), buffer.size() - 1);
  return code == kSuccess ? Json(std::string(buffer.data())) : unreadable(nvml.text(code));
}

Json clock_now(const Reader& gpu, Clock clock, ClockId id) {
  unsigned mhz = 0;
  return gpu.fact(gpu.nvml().clock(gpu.device(), clock, id, &mhz), [&] { return mhz * kMega; });
}

Json clock_max(const Reader& gpu, Clock clock) {
  unsigned mhz = 0;
  return gpu.fact(gpu.nvml().max_clock(gpu.device(), clock, &mhz), [&] { return mhz * kMega; });
}

Json threshold(const Reader& gpu, Threshold which) {
  unsigned celsius = 0;
  return gpu.fact(gpu.nvml().threshold(gpu.device(), which, &celsius), [&] { return celsius; });
}

Json processes(const Reader& gpu, const ProcessesCall& call) {
  // Four times the room: a driver with longer entries must not write past the end.
  std::vector<ProcessInfo> found(4 * kMostProcesses);
  unsigned count = kMostProcesses;
  return gpu.fact(call(gpu.device(), &count, found.data()), [&] {
    Json list = Json::array();
    for (unsigned i = 0; i < std::min(count, kMostProcesses); ++i) {
      const bool known = found[i].used_bytes != ~0ull;
      list.push_back(
          {{"pid", found[i].pid},
           {"used_bytes", known ? Json(found[i].used_bytes) : unreadable("not reported")}});
    }
    return list;
  });
}

void add_identity(const Reader& gpu, Json& facts) {
  const Library& nvml = gpu.nvml();
  facts["name"] = gpu.text(nvml.name);
  facts["uuid"] = gpu.text(nvml.uuid);
  facts["serial"] = gpu.text(nvml.serial);
  facts["board_part_number"] = gpu.text(nvml.board_part_number);
  facts["board_id"] = gpu.number(nvml.board_id);
  facts["module_id"] = gpu.number(nvml.module_id);
  facts["vbios"] = gpu.text(nvml.vbios);
  facts["inforom"] = gpu.text(nvml.inforom);
  facts["architecture"] = gpu.number(nvml.architecture);
  int major = 0, minor = 0;
  facts["compute_capability"] =
      gpu.fact(nvml.compute_capability(gpu.device(), &major, &minor),
               [&] { return std::to_string(major) + "." + std::to_string(minor); });
}

void add_clocks_and_power(const Reader& gpu, Json& facts) {
  const Library& nvml = gpu.nvml();
  facts["sm_clock_hz"] = clock_now(gpu, kSmClock, kCurrentClock);
  facts["sm_clock_max_hz"] = clock_max(gpu, kSmClock);
  facts["sm_clock_boost_max_hz"] = clock_now(gpu, kSmClock, kBoostMaxClock);
  facts["graphics_clock_hz"] = clock_now(gpu, kGraphicsClock, kCurrentClock);
  facts["memory_clock_hz"] = clock_now(gpu, kMemoryClock, kCurrentClock);
  facts["memory_clock_max_hz"] = clock_max(gpu, kMemoryClock);
  facts["power_w"] = gpu.scaled(nvml.power, kMilli);
  facts["power_limit_w"] = gpu.scaled(nvml.power_limit, kMilli);
  facts["power_limit_default_w"] = gpu.scaled(nvml.power_limit_default, kMilli);
  facts["power_limit_enforced_w"] = gpu.scaled(nvml.power_limit_enforced, kMilli);
  unsigned least = 0, most = 0;
  const Return range = nvml.power_limit_range(gpu.device(), &least, &most);
  facts["power_limit_min_w"] = gpu.fact(range, [&] { return least * kMilli; });
  facts["power_limit_max_w"] = gpu.fact(range, [&] { return most * kMilli; });
  unsigned long long energy = 0;
  facts["energy_j"] = gpu.fact(nvml.energy(gpu.device(), &energy),
                               [&] { return static_cast<double>(energy) * kMilli; });
  unsigned celsius = 0;
  facts["temperature_c"] =
      gpu.fact(nvml.temperature(gpu.device(), 0, &celsius), [&] { return celsius; });
  facts["slowdown_temperature_c"] = threshold(gpu, kSlowdownTemperature);
  facts["shutdown_temperature_c"] = threshold(gpu, kShutdownTemperature);
}

void add_modes(const Reader& gpu, Json& facts) {
  const Library& nvml = gpu.nvml();
  facts["persistence_mode"] = gpu.flag(nvml.persistence);
  facts["compute_mode"] = gpu.number(nvml.compute_mode);
  unsigned now = 0, pending = 0;
  const Return code = nvml.mig(gpu.device(), &now, &pending);
  facts["mig_mode"] = gpu.fact(code, [&] { return now == 1; });
  facts["mig_mode_pending"] = gpu.fact(code, [&] { return pending == 1; });
}

void add_processes(const Reader& gpu, Json& facts) {
  facts["compute_processes"] = processes(gpu, gpu.nvml().compute_processes);
  facts["graphics_processes"] = processes(gpu, gpu.nvml().graphics_processes);
}

Json one_gpu(const Library& nvml, unsigned index) {
  Json facts = {{"index", index}};
  Device device = nullptr;
  if (const Return code = nvml.device_by_index(index, &device); code != kSuccess) {
    facts["problem"] = nvml.text(code);  // "GPU is lost"
    return facts;
  }
  const Reader gpu(nvml, device);
  for (const auto add : {add_identity, add_clocks_and_power, add_memory_health, add_throttling,
                         add_pcie, add_nvlink, add_modes, add_processes})
    add(gpu, facts);
  return facts;
}

Json read_facts(const Library& nvml) {
  if (!nvml.problem().empty()) return unreadable(nvml.problem());
  Json facts = {{"driver", system_text(nvml, nvml.driver_version)},
                {"nvml", system_text(nvml, nvml.nvml_version)}};
  int cuda = 0;  // 12040 is 12.4
  const Return code = nvml.cuda_version(&cuda);
  facts["cuda"] = code == kSuccess ? Json(fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10))
                                   : unreadable(nvml.text(code));
  unsigned count = 0;
  if (const Return counted = nvml.device_count(&count); counted != kSuccess) {
    facts["gpus"] = unreadable(nvml.text(counted));
    return facts;
  }
  facts["gpus"] = Json::array();
  for (unsigned index = 0; index < std::min(count, kMostGpus); ++index)
    facts["gpus"].push_back(one_gpu(nvml, index));
  return facts;
}

}  // namespace

Json reason_names(unsigned long long reasons) {
  Json names = Json::array();
  for (std::size_t bit = 0; bit < kReasons.size(); ++bit)
    if ((reasons >> bit) & 1) names.push_back(kReasons[bit]);
  return names;
}

std::vector<std::string> all_reasons() { return {kReasons.begin(), kReasons.end()}; }

}  // namespace bench::nvml

namespace bench {

Json read_gpu_facts(const std::string& library, const Guard& guard) {
  return guarded([&library] { return nvml::read_facts(nvml::Library(library)); }, guard);
}

}  // namespace bench

// The parts of a GPU's facts that say how it is: errors of memory and links, slow-downs.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "probes/backends/cuda/nvml/facts.h"

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

/// One link that this GPU has; what is at its other end where it is up.
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

}  // namespace

Json reason_names(unsigned long long reasons) {
  Json names = Json::array();
  for (std::size_t bit = 0; bit < kReasons.size(); ++bit)
    if ((reasons >> bit) & 1) names.push_back(kReasons[bit]);
  return names;
}

std::vector<std::string> all_reasons() { return {kReasons.begin(), kReasons.end()}; }

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
  // Now is less than at most when idle: the link sleeps. Only under load does it mean a bad slot.
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
    if (last != kSuccess && number == 0) break;  // it has none, or the call is not there
  }
  nvlink["states"] = links.empty() ? gpu.refused(last) : links;
  facts["nvlink"] = nvlink;
  facts["fabric"] = fabric(gpu);
}

}  // namespace bench::nvml

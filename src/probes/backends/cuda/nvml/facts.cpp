#include "probes/backends/cuda/nvml/facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace bench {
namespace nvml {
namespace {

constexpr double kMega = 1e6;
constexpr double kMilli = 1e-3;
constexpr unsigned kMostGpus = 256;
constexpr unsigned kMostProcesses = 256;

/// The system's texts take no device.
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
  // Room for four times as many: a driver with longer entries must not write past the end.
  std::vector<ProcessInfo> found(4 * kMostProcesses);
  unsigned count = kMostProcesses;
  return gpu.fact(call(gpu.device(), &count, found.data()), [&] {
    Json list = Json::array();
    for (unsigned i = 0; i < std::min(count, kMostProcesses); ++i) {
      const bool known = found[i].used_bytes != ~0ull;
      list.push_back({{"pid", found[i].pid},
                      {"used_bytes", known ? Json(found[i].used_bytes) : unreadable("not reported")}});
    }
    return list;
  });
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

}  // namespace

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

}  // namespace nvml

Json read_gpu_facts(const std::string& library, const Guard& guard) {
  return guarded([&library] { return nvml::read_facts(nvml::Library(library)); }, guard);
}

}  // namespace bench

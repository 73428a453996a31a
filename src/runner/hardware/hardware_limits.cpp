#include "runner/hardware/hardware_limits.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "runner/hardware/collective_limits.h"
#include "runner/hardware/copy_limits.h"

namespace bench {
namespace {

/// Clocks are printed in MHz: closer than this is the same.
bool same_clock(double a, double b) { return std::abs(a / b - 1.0) < 0.005; }

Unit unit_of_dtype(const std::string& dtype) {
  return dtype == "int8" ? Unit::op_per_second : Unit::flop_per_second;
}

std::string stated(const HardwareEntry& entry, const HardwarePeak& peak, Unit unit) {
  const std::string clock =
      peak.clock_hz ? " at " + format(*peak.clock_hz, Unit::hertz) : std::string();
  return fmt::format("{}, dense{} ({})", format(peak.operations_per_second, unit), clock,
                     entry.sources.at(peak.source));
}

/// Whether the device has another number of multiprocessors, or another clock, than the datasheet.
bool differs(const HardwareEntry& entry, const HardwarePeak& peak, const DeviceFacts& facts) {
  const bool other_chip = facts.multiprocessors && facts.multiprocessors != entry.multiprocessors;
  const bool other_clock =
      facts.clock_hz && (!peak.clock_hz || !same_clock(*facts.clock_hz, *peak.clock_hz));
  return other_chip || other_clock;
}

/// Products of block-scaled elements run in the pipe of these elements.
std::string element_dtype(const std::string& dtype) {
  if (dtype == "mxfp8") return "fp8_e4m3";
  return dtype == "nvfp4" ? "fp4" : dtype;
}

}  // namespace

std::optional<Limit> gemm_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                const std::string& dtype) {
  const HardwarePeak* peak = entry.peak(element_dtype(dtype));
  if (peak == nullptr) return {};
  const Unit unit = unit_of_dtype(dtype);
  const std::string datasheet = stated(entry, *peak, unit);
  const auto units = facts.multiprocessors ? facts.multiprocessors : entry.multiprocessors;
  const auto clock = facts.clock_hz ? facts.clock_hz : peak->clock_hz;
  if (!differs(entry, *peak, facts))
    return Limit{peak->operations_per_second, LimitKind::datasheet, datasheet, peak->clock_hz};
  if (units && clock && peak->operations_per_cycle) {
    const double value = *units * *peak->operations_per_cycle * *clock;
    return Limit{value, LimitKind::datasheet,
                 fmt::format("{} multiprocessors x {} operations a cycle x {} = {}; datasheet: {}",
                             *units, *peak->operations_per_cycle, format(*clock, Unit::hertz),
                             format(value, unit), datasheet),
                 clock};
  }
  if (!facts.multiprocessors || !entry.multiprocessors)
    return Limit{peak->operations_per_second, LimitKind::datasheet, datasheet, peak->clock_hz};
  const double share = static_cast<double>(*facts.multiprocessors) / *entry.multiprocessors;
  return Limit{peak->operations_per_second * share, LimitKind::datasheet,
               fmt::format("{} of {} multiprocessors of {}", *facts.multiprocessors,
                           *entry.multiprocessors, datasheet),
               peak->clock_hz};
}

std::optional<Limit> memory_limit(const HardwareEntry& entry, const DeviceFacts& facts) {
  const HardwareMemory& memory = entry.memory;
  if (facts.memory_bus_bits && facts.memory_clock_hz) {
    const double value = *facts.memory_bus_bits / 8.0 * 2.0 * *facts.memory_clock_hz;
    return Limit{value, LimitKind::datasheet,
                 fmt::format("{} bits / 8 x 2 x {} = {}, as reported by the driver",
                             *facts.memory_bus_bits, format(*facts.memory_clock_hz, Unit::hertz),
                             format(value, Unit::byte_per_second))};
  }
  if (!memory.bytes_per_second) return {};
  return Limit{*memory.bytes_per_second, LimitKind::datasheet,
               fmt::format("{} {} ({})", memory.kind,
                           format(*memory.bytes_per_second, Unit::byte_per_second),
                           entry.sources.at(memory.source))};
}

std::optional<Limit> hardware_limit(const HardwareEntry& entry, const DeviceFacts& facts,
                                    const std::string& metric, const Json& params) {
  const auto word = [&](const char* key) {
    return params.contains(key) && params[key].is_string() ? params[key].get<std::string>() : "";
  };
  if (metric == "gemm.throughput") return gemm_limit(entry, facts, word("dtype"));
  if (metric == "memory_bandwidth.bandwidth") return memory_limit(entry, facts);
  if (metric == "copy.bandwidth") return copy_limit(entry, facts, word("route"));
  if (metric == "collective.busbw") return busbw_limit(entry, facts, collective_path(params));
  if (metric == "collective.algbw") return algbw_limit(entry, facts, collective_path(params));
  if (metric == "network.bandwidth") return nic_limit(params);
  return {};
}

std::vector<KnownLimit> limits_of_eight(const HardwareEntry& entry, const DeviceFacts& facts) {
  std::vector<KnownLimit> limits;
  const auto add = [&](const std::string& metric, const Json& params) {
    if (const auto limit = hardware_limit(entry, facts, metric, params))
      limits.push_back({metric, params, *limit});
  };
  for (const char* dtype :
       {"f64", "f32", "tf32", "bf16", "f16", "fp8_e4m3", "fp8_e5m2", "fp4", "int8"})
    add("gemm.throughput", {{"dtype", dtype}});
  add("memory_bandwidth.bandwidth", Json::object());
  for (const char* route : {"host_to_device", "device_to_host", "both", "inside", "peer_write"})
    add("copy.bandwidth", {{"route", route}});
  for (const char* op : {"all_reduce", "all_gather"})
    add("collective.busbw", {{"op", op}, {"ranks", 8}});
  return limits;
}

}  // namespace bench

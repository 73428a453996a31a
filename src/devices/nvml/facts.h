// What NVML says about the GPUs of this host: who they are, what they may do, how healthy they are.
// Each fact is a value in base units (hertz, watt, bytes, seconds; degrees Celsius) or
// {"unreadable": why}; docs/telemetry.md lists them.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "devices/nvml/guarded.h"
#include "devices/nvml/library.h"
#include "devices/nvml/reader.h"

namespace bench {

/// {"driver": ..., "gpus": [...]}, asked by a child process: never later than the guard's deadline.
/// {"unreadable": why} where there is no driver, or a sick one.
Json read_gpu_facts(const std::string& library = nvml::kDefaultLibrary, const Guard& guard = {});

namespace nvml {

/// The same without a guard.
Json read_facts(const Library& nvml);
/// The parts of one GPU's facts.
void add_identity(const Reader& gpu, Json& facts);
void add_clocks_and_power(const Reader& gpu, Json& facts);
void add_memory_health(const Reader& gpu, Json& facts);
void add_throttling(const Reader& gpu, Json& facts);
void add_pcie(const Reader& gpu, Json& facts);
void add_nvlink(const Reader& gpu, Json& facts);
void add_modes(const Reader& gpu, Json& facts);
void add_processes(const Reader& gpu, Json& facts);

/// The names of the set bits, e.g. {"sw_power_cap"}.
Json reason_names(unsigned long long reasons);
/// The name of each bit, the lowest first.
std::vector<std::string> all_reasons();

}  // namespace nvml
}  // namespace bench

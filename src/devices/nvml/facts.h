// Identity, capabilities and health of the GPUs of this host, by NVML. Each fact is a value in base
// units (hertz, watt, bytes, seconds; degrees Celsius) or {"unreadable": why}; docs/telemetry.md
// lists them.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "devices/nvml/guarded.h"
#include "devices/nvml/library.h"

namespace bench {

/// {"driver": ..., "gpus": [...]}, queried in a child process within the deadline of the guard.
/// {"unreadable": why} without a working driver.
Json read_gpu_facts(const std::string& library = nvml::kDefaultLibrary, const Guard& guard = {});

namespace nvml {

/// Names of the set bits, e.g. {"sw_power_cap"}.
Json reason_names(unsigned long long reasons);
/// Names of all bits, lowest first.
std::vector<std::string> all_reasons();

}  // namespace nvml
}  // namespace bench

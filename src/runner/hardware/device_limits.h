// The limits of a job on a device that was found: which product it is, and what each metric of the
// job's probe can reach on it at most.
#pragma once

#include <string>
#include <vector>

#include "core/job.h"
#include "runner/hardware/hardware_catalogue.h"
#include "runner/hardware/hardware_entry.h"

namespace bench {

// Published results of a product, shown with its limit.

/// "others reached 794.5 TFLOP/s (stas00/ml-engineering)", of a metric ("gemm.throughput") at these
/// parameters. Of several values for one thing the greatest; what the parameters leave open is
/// said: "kernel copy 4.010 TB/s (...), kernel triad 4.150 TB/s (...)". Thresholds and values that
/// are doubted are none. "" where nobody reported any.
std::string reached_by_others(const HardwareEntry& entry, const std::string& metric,
                              const Json& params);

/// From the facts that a rank tells of its device: name, memory_bytes, multiprocessors, clock_hz,
/// memory_clock_hz, memory_bus_bits, pcie_generation, pcie_lanes, pcie_generation_now,
/// pcie_slowest, nvlinks, c2c_links, c2c_bytes_per_second. What is missing or no number stays
/// unknown.
DeviceFacts device_facts_from(const Json& facts);

/// None for a product that the catalogue does not know or cannot tell from another.
std::vector<KnownLimit> device_limits(const HardwareCatalogue& catalogue, const DeviceFacts& facts,
                                      const Job& job);

}  // namespace bench

// The limits of a job on a detected device: identifies the product, and gives the limit of each
// metric of the job's probe.
#pragma once

#include <string>
#include <vector>

#include "core/job.h"
#include "runner/hardware/hardware_catalogue.h"
#include "runner/hardware/hardware_entry.h"

namespace bench {

// Published results of a product, shown with its limit.

/// "others reached 794.5 TFLOP/s (stas00/ml-engineering)", of a metric ("gemm.throughput") at these
/// parameters. Of several values the greatest; parameters that `params` lacks are named: "kernel
/// copy 4.010 TB/s (...), kernel triad 4.150 TB/s (...)". Thresholds and doubtful values do not
/// count. "" if none was reported.
std::string reached_by_others(const HardwareEntry& entry, const std::string& metric,
                              const Json& params);

/// From the facts that a rank reports of its device: name, memory_bytes, multiprocessors, clock_hz,
/// memory_clock_hz, memory_bus_bits, pcie_generation, pcie_lanes, pcie_generation_now,
/// pcie_slowest, nvlinks, c2c_links, c2c_bytes_per_second. Missing or invalid values stay
/// unknown.
DeviceFacts device_facts_from(const Json& facts);

/// Empty for a product that the catalogue does not know or cannot distinguish from another.
std::vector<KnownLimit> device_limits(const HardwareCatalogue& catalogue, const DeviceFacts& facts,
                                      const Job& job);

}  // namespace bench

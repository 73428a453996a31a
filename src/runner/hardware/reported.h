// Published results of a product, shown with its limit.
#pragma once

#include <string>

#include "runner/hardware/hardware_entry.h"

namespace bench {

/// "others reached 794.5 TFLOP/s (stas00/ml-engineering)", of a metric ("gemm.throughput") at these
/// parameters. Of several values for one thing the greatest; what the parameters leave open is
/// said: "kernel copy 4.010 TB/s (...), kernel triad 4.150 TB/s (...)". Thresholds and values that
/// are doubted are none. "" where nobody reported any.
std::string reached_by_others(const HardwareEntry& entry, const std::string& metric,
                              const Json& params);

}  // namespace bench

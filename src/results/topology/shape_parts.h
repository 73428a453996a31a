// Shared by shape.cpp and shape_devices.cpp.
#pragma once

#include <string>

#include "results/topology/shape.h"

namespace bench {

/// Counts one more device under a label (a text, or {"unreadable": why}, which makes the whole path
/// unreadable).
void count_device(Shape& shape, const std::string& path, const Json& label, const std::string& who,
                  std::int64_t times = 1);

/// PCI devices: counts, links, NUMA nodes, switches, drivers, and facts from network, InfiniBand,
/// NVMe and the NVIDIA driver.
void add_devices(Shape& shape, const Json& facts);

}  // namespace bench

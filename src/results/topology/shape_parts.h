// What the two halves of shape_of share.
#pragma once

#include <string>

#include "results/topology/shape.h"

namespace bench {

/// Counts one more device under a label (a text, or {"unreadable": why}, which makes the whole path
/// unreadable).
void count_device(Shape& shape, const std::string& path, const Json& label, const std::string& who,
                  std::int64_t times = 1);

/// PCI devices: counts, links, NUMA nodes, switches, drivers, and what network, InfiniBand, NVMe
/// and NVIDIA's driver say of them.
void add_devices(Shape& shape, const Json& facts);

}  // namespace bench

// The memory modules from the firmware's SMBIOS table (structures of type 17, DMTF DSP0134 7.18).
// Only root may read the table, and many virtual machines have none.
#pragma once

#include <string_view>
#include <vector>

#include "core/system_files.h"
#include "devices/topology.h"

namespace bench {

/// Every populated module of a table; a table that is cut off or damaged gives what comes before.
std::vector<MemoryModule> parse_memory_modules(std::string_view table);

MemoryModules read_memory_modules(const SystemFiles& files);

}  // namespace bench

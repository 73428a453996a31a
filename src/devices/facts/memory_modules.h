// Memory modules from the SMBIOS table of the firmware (structures of type 17, DMTF DSP0134 7.18).
// Only root may read it, and many virtual machines have none.
#pragma once

#include <string_view>
#include <vector>

#include "core/system_files.h"
#include "devices/topology.h"

namespace bench {

/// All populated modules; of a truncated or damaged table those before the damage.
std::vector<MemoryModule> parse_memory_modules(std::string_view table);

MemoryModules read_memory_modules(const SystemFiles& files);

}  // namespace bench

// Which sources of facts this process may read: what it could not look at is said by name, so that
// nobody takes silence for health.
#pragma once

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench {

/// Of "kernel_log", "memory_errors", "firmware_tables", "pci_configuration": "readable", "none"
/// where there is no such thing, or {"unreadable": why}.
Json read_access_facts(const SystemFiles& files);

}  // namespace bench

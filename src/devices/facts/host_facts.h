// Facts about the host a rank runs on, from /proc and /sys alone and within a few milliseconds:
// every rank process reports them when it starts. "warnings" lists what lowers or disturbs results
// and what to do.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

// Which sources of facts this process may read: what it could not look at is said by name, so that
// nobody takes silence for health.

/// Of "kernel_log", "memory_errors", "firmware_tables", "pci_configuration": "readable", "none"
/// where there is no such thing, or {"unreadable": why}.
Json read_access_facts(const SystemFiles& files);

/// Sizes in bytes. A value that cannot be read is "unreadable"; one that does not exist (no quota,
/// no governor) is "none". Never throws for unexpected file contents. `root` stands for "/" so that
/// tests can fake a machine; `own_processes` on this host do not count as foreign load.
Json read_host_facts(const std::filesystem::path& root = "/", int own_processes = 1);

/// Single facts for other readers.
Json read_memory_bytes(const SystemFiles& files);
Json read_memlock_bytes(const SystemFiles& files);

}  // namespace bench

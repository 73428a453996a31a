// Facts about the host of a rank, from /proc and /sys within a few milliseconds: every rank process
// reports them when it starts. "warnings" lists what lowers or disturbs results and what to do.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

/// Which sources this process may read, so that silence is not mistaken for health: "kernel_log",
/// "memory_errors", "firmware_tables", "pci_configuration", each "readable", "none" if it does not
/// exist, or {"unreadable": why}.
Json read_access_facts(const SystemFiles& files);

/// Sizes in bytes. A value that cannot be read is "unreadable"; one that does not exist (no quota,
/// no governor) is "none". Never throws for unexpected file contents. `root` stands for "/" so that
/// tests can fake a machine; `own_processes` on this host do not count as foreign load.
Json read_host_facts(const std::filesystem::path& root = "/", int own_processes = 1);

Json read_memory_bytes(const SystemFiles& files);
Json read_memlock_bytes(const SystemFiles& files);

}  // namespace bench

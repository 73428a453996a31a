// Facts about the host a rank runs on, from /proc and /sys alone and within a few milliseconds:
// every rank process reports them when it starts. "warnings" lists what lowers or disturbs results
// and what to do.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench {

/// Sizes in bytes. A value that cannot be read is "unreadable"; one that does not exist (no quota,
/// no governor) is "none". Never throws for unexpected file contents. `root` stands for "/" so that
/// tests can fake a machine; `own_processes` on this host do not count as foreign load.
Json read_host_facts(const std::filesystem::path& root = "/", int own_processes = 1);

/// Single facts for other readers.
Json read_memory_bytes(const SystemFiles& files);
Json read_memlock_bytes(const SystemFiles& files);

}  // namespace bench

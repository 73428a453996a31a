// What is known about the host a rank runs on, from /proc and /sys alone and within a few
// milliseconds: every rank process says it at its start. Besides the facts it says in plain words
// what in them makes measurements worse or mean less ("hurts"), and what to do.
#pragma once

#include <filesystem>

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench {

/// An object; sizes in bytes. A value that could not be read is the text "unreadable"; one that
/// does not exist here (no quota, no governor) is "none". Never throws for what the machine says.
/// `root` stands for "/", so that tests can give a machine of their own; `own_processes` are ours
/// on this host, which are no load of others.
Json read_host_facts(const std::filesystem::path& root = "/", int own_processes = 1);

/// Single facts of these, for others.
Json read_memory_bytes(const SystemFiles& files);
Json read_memlock_bytes(const SystemFiles& files);

}  // namespace bench

// Checks of a GPU host before anything is measured on it: foreign processes on the GPUs, missing
// software, obstacles to peer-to-peer traffic. From /proc, /sys and NVML's facts.
#pragma once

#include <set>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

/// A value that cannot be read is {"unreadable": why}. `gpu_facts` come from read_gpu_facts (null:
/// no GPU). `own_processes` on the GPUs are not foreign. "warnings" lists problems and remedies,
/// most severe first.
Json read_preflight_facts(const SystemFiles& files, const Json& gpu_facts = {},
                          const std::set<int>& own_processes = {});

}  // namespace bench

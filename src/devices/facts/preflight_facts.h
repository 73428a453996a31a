// Checks of a GPU host before anything is measured on it: foreign processes on the GPUs, missing
// software, obstacles to peer-to-peer traffic. From /proc, /sys and NVML's facts.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/system_files.h"

namespace bench {

/// A value that cannot be read is {"unreadable": why}. `gpu_facts` come from read_gpu_facts (null:
/// no GPU). `own_processes` on the GPUs are not foreign. "warnings" says what is wrong and what to
/// do.
Json read_preflight_facts(const SystemFiles& files, const Json& gpu_facts = {},
                          const std::set<int>& own_processes = {});

/// The text of "warnings", most severe first.
std::vector<std::string> preflight_warnings(const Json& facts);

}  // namespace bench

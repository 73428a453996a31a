// What is to be known of a GPU host before anything is measured on it: is somebody else on the
// GPUs, is the software around them there, does the machine let devices talk to each other
// directly. From /proc and /sys, and from what NVML said of the GPUs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "probes/facts/system_files.h"

namespace bench {

/// An object; a value that cannot be read is {"unreadable": why}. `gpu_facts` as read_gpu_facts
/// gives them (null: there is no GPU). `own_processes`: ours on the GPUs, which are not foreign.
/// "warnings" says in plain words what is wrong and what to do.
Json read_preflight_facts(const SystemFiles& files, const Json& gpu_facts = {},
                          const std::set<int>& own_processes = {});

/// The sentences behind "warnings", the gravest first.
std::vector<std::string> preflight_warnings(const Json& facts);

}  // namespace bench

// What bench-rank and bench-rank-cuda have in common: their options and how they begin to serve.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/record.h"
#include "devices/counters/host_counters.h"
#include "devices/device.h"
#include "devices/group.h"
#include "probes/server/join_group.h"

namespace bench {

// Which processes on this machine are ours: what they do is part of the job, not a disturbance.

/// The process ids of the group's ranks on rank 0's machine, at rank 0; empty elsewhere. Every rank
/// calls it.
std::set<int> processes_here(Group& group);

struct RankProgram {
  std::string name;  // "bench-rank"
  std::function<std::unique_ptr<Group>(GroupKind)> join_group;
  std::function<std::unique_ptr<Device>()> make_device;
  std::function<Json()> libraries;  // versions of what the program measures with
  /// Brings each rank to where its device is, before it makes it; what that rank did, or null. Rank
  /// 0 says it for all, as the facts "rank_places".
  std::function<Json()> place = {};
  /// What is known of the devices; rank 0 says it, before it makes its own. `own`: the processes
  /// of this group on rank 0's machine, which are not foreign to its devices.
  std::function<std::vector<Facts>(const std::set<int>& own)> device_facts = {};
  /// The facts "topology" of a machine that lstopo saved as XML.
  std::function<Json(const std::filesystem::path& xml)> saved_topology = {};
  /// What is read during jobs that ask for telemetry.
  SourceFactory counters = [] { return host_counters(); };
};

/// The whole of main(); returns the exit code. Errors are said on stderr.
int run_rank_program(const RankProgram& program, int argc, char** argv);

}  // namespace bench

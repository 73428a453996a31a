// The common part of bench-rank and bench-rank-cuda: options, startup and serving.
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

/// The process IDs of the group's ranks on rank 0's machine, at rank 0; empty elsewhere: their load
/// is part of the job, not interference. Every rank calls it.
std::set<int> processes_here(Group& group);

struct RankProgram {
  std::string name;  // "bench-rank"
  std::function<std::unique_ptr<Group>(GroupKind)> join_group;
  /// Called with the arguments of main() once the rank has its part of the host; may start the
  /// program again.
  std::function<void(char** argv)> before_serving = {};
  std::function<std::unique_ptr<Device>()> make_device;
  std::function<Json()> libraries;  // versions of what the program measures with
  /// Binds each rank near its device before the device is created, and returns facts about that or
  /// null. Rank 0 reports those of all ranks as the facts "rank_places".
  std::function<Json()> place = {};
  /// Facts about the devices; rank 0 reports them before it creates its own. `own`: the processes
  /// of this group on rank 0's machine, which may use the devices.
  std::function<std::vector<Facts>(const std::set<int>& own)> device_facts = {};
  /// The facts "topology" of a machine saved by lstopo as XML.
  std::function<Json(const std::filesystem::path& xml)> saved_topology = {};
  /// The sources read during jobs that request telemetry.
  SourceFactory counters = [] { return host_counters(); };
};

/// All of main(); returns the exit code. Reports errors on stderr.
int run_rank_program(const RankProgram& program, int argc, char** argv);

}  // namespace bench

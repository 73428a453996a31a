// What bench-rank and bench-rank-cuda have in common: their options and how they begin to serve.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/json.h"
#include "probes/device.h"
#include "probes/group.h"

namespace bench {

struct RankProgram {
  std::string name;  // "bench-rank"
  std::function<std::unique_ptr<Group>()> join_group;
  std::function<std::unique_ptr<Device>()> make_device;
  std::function<Json()> libraries;  // versions of what the program measures with
};

/// The whole of main(); returns the exit code. Errors are said on stderr.
int run_rank_program(const RankProgram& program, int argc, char** argv);

}  // namespace bench

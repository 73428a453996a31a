// How to run a command on a host: the prefix of its command line.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/srun.h"

namespace bench {

/// Quotes an argument for any shell: sh, csh and fish agree, except on a newline and "!" in csh, which
/// our arguments never contain. Throws Error(input) for a zero byte.
std::string shell_quoted(const std::string& word);

struct Reach {
  std::function<std::vector<std::string>(const Place&)> words;
  bool shell = true;  // a shell on that host parses the command
};

/// Through the remote shell agent; directly for this host.
Reach reach_by_agent(const LaunchSettings& settings);
/// Through a step of the allocation.
Reach reach_by_step(const SlurmSite& site, StepInput input);

}  // namespace bench

// The output of a program such as scontrol.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/units.h"
#include "runner/hosts/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/srun.h"

namespace bench {

// How to run a command on a host: the prefix of its command line.

/// Quotes an argument for any shell: sh, csh and fish agree, except on a newline and "!" in csh,
/// which our arguments never contain. Throws Error(input) for a zero byte.
std::string shell_quoted(const std::string& word);

struct Reach {
  std::function<std::vector<std::string>(const Place&)> words;
  bool shell = true;  // a shell on that host parses the command
};

/// Through the remote shell agent; directly for this host.
Reach reach_by_agent(const LaunchSettings& settings);
/// Through a step of the allocation.
Reach reach_by_step(const SlurmSite& site, StepInput input);

/// Runs a program without input or shell and returns its stdout. Throws Error(environment) if it is
/// missing, fails (with the end of its stderr), prints more than `at_most` bytes, or does not end
/// `within` the time; it is killed then.
std::string program_output(const std::vector<std::string>& argv, Seconds within,
                           std::size_t at_most = std::size_t{256} << 20);

}  // namespace bench

// How one command comes to one host: the words that stand before it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/srun.h"

namespace bench {

/// One word for any shell: sh, csh and fish read it alike but for a newline and "!" in csh, which
/// no argument of ours has. Throws Error(input) for a zero byte.
std::string shell_quoted(const std::string& word);

struct Reach {
  std::function<std::vector<std::string>(const Place&)> words;
  bool shell = true;  // of that host reads them
};

/// By the remote shell agent; a place that is this host without.
Reach reach_by_agent(const LaunchSettings& settings);
/// By a step of the allocation.
Reach reach_by_step(const SlurmSite& site, StepInput input);

}  // namespace bench

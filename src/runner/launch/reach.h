// How one command comes to one host: the words that stand before it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runner/launch/launch_settings.h"
#include "runner/launch/place.h"
#include "runner/launch/srun.h"

namespace bench {

struct Reach {
  std::function<std::vector<std::string>(const Place&)> words;
  bool shell = true;  // of that host reads them
};

/// By the remote shell agent; a place that is this host without.
Reach reach_by_agent(const LaunchSettings& settings);
/// By a step of the allocation.
Reach reach_by_step(const SlurmSite& site, StepInput input);

}  // namespace bench

// Drains failed nodes: the Slurm command for each, and running it.
#pragma once

#include <string>
#include <vector>

#include "results/verdicts/acceptance/acceptance.h"

namespace bench {

struct Drain {
  std::string host;
  std::vector<std::string> command;  // scontrol and its arguments
  bool ran = false;
  std::string trouble = {};  // why draining failed; "" for success or if not requested
};

/// One for each host that failed, with its first reason.
std::vector<Drain> drains(const Acceptance& acceptance);

/// Runs them all, noting failures.
void run_drains(std::vector<Drain>& drains);

/// Quoted for a shell.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace bench

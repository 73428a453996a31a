// Takes failed nodes out of service: the Slurm command for each, and running it.
#pragma once

#include <string>
#include <vector>

#include "results/acceptance/acceptance.h"

namespace bench {

struct Drain {
  std::string host;
  std::vector<std::string> command;  // scontrol and its words
  bool ran = false;
  std::string trouble = {};  // why it was not drained; "" when it was, or nobody asked
};

/// One for each host that failed, with its first reason.
std::vector<Drain> drains(const Acceptance& acceptance);

/// Runs them. What fails is noted and the others go on.
void run_drains(std::vector<Drain>& drains);

/// As a shell takes it.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace bench

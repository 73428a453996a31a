// A check before a job in the Slurm Prolog. A failure drains the node, so it fails only for a
// confirmed finding, and returns within its limit even if the check hangs.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"

namespace bench {

struct PrologAnswer {
  ExitCode code = ExitCode::ok;  // failed, or ok
  std::string out, err;          // output of the check
  std::string why;               // why it was inconclusive; "" if it was not
};

/// Runs a night command as a child. Exit code 1 means `failed`; any other exit, a crash, a failed
/// start or a timeout after `limit` (the child and its children are killed) means `ok` with a
/// reason.
PrologAnswer run_prolog(const std::vector<std::string>& command, Seconds limit);

}  // namespace bench

// A check before a job, as Slurm's Prolog runs it: what it answers drains a node, so it answers
// "fail" for a confirmed finding alone, and within its limit whatever hangs.
#pragma once

#include <string>
#include <vector>

#include "core/error.h"
#include "core/units.h"

namespace bench {

struct PrologAnswer {
  ExitCode code = ExitCode::ok;  // failed, or ok
  std::string out, err;          // what the check said
  std::string why;               // it could not say: why; "" where it could
};

/// Runs the words of a night as a child. Its exit code 1 is `failed`; every other end, a crash, a
/// program that cannot be started, and no end within `limit`, after which it and all it started are
/// killed, is `ok` with a reason.
PrologAnswer run_prolog(const std::vector<std::string>& command, Seconds limit);

}  // namespace bench

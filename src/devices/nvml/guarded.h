// Runs a query that may never return: calls into a broken driver can block forever, even against
// SIGKILL. A child process runs it, and the caller waits until the deadline. The child must not use
// what other threads of this process may hold (a CUDA context, MPI); opening NVML again is fine.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/json.h"
#include "core/units.h"

namespace bench {

struct Guard {
  std::string whom = "NVML";
  // NVML takes up to a second per GPU without persistence mode, and longer in containers with a
  // huge open file limit, which its start iterates over.
  Seconds deadline{10.0};
  std::size_t most_bytes = 4u << 20;  // of the answer
};

/// The result of `ask`, or {"unreadable": why} if it was late, crashed, threw, or its result was
/// too large. A late child is killed; one that survives is left alone, with none of our files open.
Json guarded(const std::function<Json()>& ask, const Guard& guard = {});

}  // namespace bench

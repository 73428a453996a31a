// Asks a question that may never be answered: a call into a sick driver blocks for ever, sometimes
// where not even SIGKILL reaches it. So a child process asks, and the caller waits no longer than
// the deadline. The child must not use what other threads of this process may hold (a CUDA context,
// MPI); opening NVML anew is fine.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "core/json.h"
#include "core/units.h"

namespace bench {

struct Guard {
  std::string whom = "NVML";
  // NVML alone takes up to a second a GPU where persistence mode is off, and longer where a
  // container allows a thousand million open files, which its start goes through.
  Seconds deadline{10.0};
  std::size_t most_bytes = 4u << 20;  // of the answer
};

/// What `ask` returns, or {"unreadable": why}: it was late, crashed, threw, or said too much. A
/// late child is killed; one that does not die of it is left alone, with none of our files open.
Json guarded(const std::function<Json()>& ask, const Guard& guard = {});

}  // namespace bench

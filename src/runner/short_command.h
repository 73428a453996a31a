// A command that answers at once or not at all, such as scancel: run to its end, within a limit.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/units.h"
#include "runner/process.h"

namespace bench {

struct Answer {
  bool in_time = false;  // it ended by itself; killed otherwise
  Exit exit;
  std::string output, error;  // at most a few KiB of each
  bool good() const { return in_time && exit.clean(); }
};

/// Throws Error(environment) when it cannot be started.
Answer run_short(const std::vector<std::string>& argv, Seconds limit);

/// Adds what has come so far from a non-blocking descriptor; what is past `most` is lost.
void read_some(const Descriptor& fd, std::string& text, std::size_t most = 4096);

}  // namespace bench

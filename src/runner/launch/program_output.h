// The output of a program such as scontrol.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/units.h"

namespace bench {

/// Runs a program without input or shell and returns its stdout. Throws Error(environment) if it is
/// missing, fails (with the end of its stderr), prints more than `at_most` bytes, or does not end
/// `within` the time; it is killed then.
std::string program_output(const std::vector<std::string>& argv, Seconds within,
                           std::size_t at_most = std::size_t{256} << 20);

}  // namespace bench

// What another program prints: for tools such as scontrol that answer and end.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/units.h"

namespace bench {

/// The stdout of a program that gets no input; no shell is involved. Throws Error(environment) when
/// it is missing, fails (with the end of its stderr), prints more than `at_most` bytes, or has not
/// ended `within` the time, after which it is killed.
std::string program_output(const std::vector<std::string>& argv, Seconds within,
                           std::size_t at_most = std::size_t{256} << 20);

}  // namespace bench

// Makes hosts files from Open MPI hostfiles and from Slurm's nodes (slurm_nodes.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace bench {

struct ImportedHosts {
  Json hosts;                      // a hosts file; identical nodes share one entry
  std::vector<std::string> notes;  // skipped hosts and assumptions, for the user
};

/// An OpenMPI hostfile: "[user@]name [slots=4] [max_slots=8]  # comment". As Open MPI 4.1 reads it:
/// each repetition of a host adds a slot, a second slots= is refused, and max_slots alone sets the
/// slots. A host without slots gets `slots`; Open MPI would use its number of cores. Throws
/// Error(input) with `origin` and line.
ImportedHosts import_hostfile(std::string_view text, const std::string& origin, int slots = 1);

}  // namespace bench

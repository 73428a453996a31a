// Hosts files made of what a site has already: OpenMPI hostfiles, and Slurm's nodes
// (slurm_nodes.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"

namespace bench {

struct ImportedHosts {
  Json hosts;                      // a hosts file; nodes that share everything are one expression
  std::vector<std::string> notes;  // what was left out or assumed, for people
};

/// An OpenMPI hostfile: "[user@]name [slots=4] [max_slots=8]  # comment". As OpenMPI 4 reads it
/// (seen with 4.1.4): each further mention of a host adds a slot, a second slots= is refused, and
/// max_slots alone states the slots. A host whose slots are stated nowhere gets `slots`; OpenMPI
/// would ask the host for its cores. Throws Error(input) naming `origin` and the line.
ImportedHosts import_hostfile(std::string_view text, const std::string& origin, int slots = 1);

}  // namespace bench

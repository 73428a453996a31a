// Hosts files made of what a site has already: OpenMPI hostfiles and Slurm's list of nodes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/units.h"

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

/// Prints what the two below read, and how long Slurm may take for it.
inline const std::vector<std::string> kShowNodes = {"scontrol", "show", "nodes", "--oneliner"};
inline constexpr Seconds kSlurmAnswers{30.0};

struct SlurmChoice {
  std::string partition;  // only its nodes; "" for all
  bool all = false;       // keep the nodes that Slurm would start nothing on
};

/// What `scontrol show nodes --oneliner` prints. Slots are CPUTot; partitions, active features and
/// gres become labels. Throws Error(input) naming the line, or where no node is left.
ImportedHosts import_slurm(std::string_view text, const std::string& origin,
                           const SlurmChoice& choice);

/// Of the same text: the nodes on which Slurm would start nothing now, and their states. Lines that
/// are no node are passed over.
std::map<std::string, std::string> unusable_slurm_nodes(std::string_view text);
/// The same of nodes that are not idle, or that Slurm has plans for: "ALLOCATED", "IDLE+PLANNED".
std::map<std::string, std::string> busy_slurm_nodes(std::string_view text);

}  // namespace bench

// Slurm's list of nodes: a hosts file made of it, and which nodes nothing can be started on now.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/hosts/host_import.h"

namespace bench {

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

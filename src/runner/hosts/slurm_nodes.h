// Parses Slurm's node list: makes a hosts file, and finds nodes that cannot run jobs now.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"
#include "runner/hosts/host_import.h"

namespace bench {

/// The command whose output is parsed below, and its timeout.
inline const std::vector<std::string> kShowNodes = {"scontrol", "show", "nodes", "--oneliner"};
inline constexpr Seconds kSlurmAnswers{30.0};

struct SlurmChoice {
  std::string partition;  // only nodes of this partition; "" for all
  bool all = false;       // include nodes that cannot run jobs
};

/// Parses `scontrol show nodes --oneliner`. Slots are CPUTot; partitions, active features and gres
/// become labels. Throws Error(input) with the line, or if no node is left.
ImportedHosts import_slurm(std::string_view text, const std::string& origin,
                           const SlurmChoice& choice);

/// From the same text: nodes that cannot run jobs now -> state. Ignores other lines.
std::map<std::string, std::string> unusable_slurm_nodes(std::string_view text);
/// Likewise for nodes that are not idle or are planned: "ALLOCATED", "IDLE+PLANNED".
std::map<std::string, std::string> busy_slurm_nodes(std::string_view text);

}  // namespace bench

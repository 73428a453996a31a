// What earlier runs found out about hosts, in words by which a plan can be made: how many GPUs,
// which network cards, what they can be grouped by.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/json.h"
#include "runner/hosts/inventory.h"

namespace bench {

/// From the latest facts of a host by topic ("host", "gpus"). Every text and number of "host"
/// (kernel, cpu_model, product, numa_nodes, ...), and
///   gpus           how many there are
///   gpu            their name, where all have one
///   nvlink_domain  the fabric's cluster and clique, where all GPUs are in one
///   cards          the names under /sys/class/infiniband, with commas, mlx5_2 before mlx5_10
std::map<std::string, std::string> words_of_facts(const std::map<std::string, Json>& topics);

/// Fills in Host::facts from the database. Where there is none nothing is known; one that cannot be
/// read is warned of.
void add_known_facts(Inventory& inventory, const std::filesystem::path& database);

}  // namespace bench

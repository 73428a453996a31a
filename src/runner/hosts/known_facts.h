// Host facts from earlier runs, for planning: GPUs, network cards, grouping keys.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/json.h"
#include "runner/hosts/inventory.h"

namespace bench {

/// Facts from the latest records of a host by topic ("host", "gpus"). Every text and number of
/// "host" (kernel, cpu_model, product, numa_nodes, ...), and
///   gpus           number of GPUs
///   gpu            their name, if all are equal
///   nvlink_domain  cluster and clique of the fabric, if all GPUs are in one
///   cards          names in /sys/class/infiniband, comma-separated, mlx5_2 before mlx5_10
std::map<std::string, std::string> words_of_facts(const std::map<std::string, Json>& topics);

/// Fills in Host::facts from the database, if it exists; warns if it cannot be read.
void add_known_facts(Inventory& inventory, const std::filesystem::path& database);

}  // namespace bench

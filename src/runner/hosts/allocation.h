// The Slurm allocation we run in, as its environment describes it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/hosts/inventory.h"

namespace bench {

struct Allocation {
  std::string job;
  std::vector<std::string> nodes;   // in Slurm's order
  std::map<std::string, int> cpus;  // by node: what the job may use there
  bool has(const std::string& node) const { return cpus.contains(node); }
  bool operator==(const Allocation&) const = default;
};

/// SLURM_JOB_CPUS_PER_NODE: "8(x2),4" is 8, 8, 4. Throws Error(input) naming the text where it is
/// none, a count is 0, or there are more than `at_most` nodes, before they are made.
std::vector<int> expand_cpus_per_node(std::string_view text, std::size_t at_most);

/// A number as Slurm gives its jobs: digits, few enough.
bool is_job_number(std::string_view text);

/// From SLURM_JOB_ID, SLURM_JOB_NODELIST and SLURM_JOB_CPUS_PER_NODE; nothing outside of an
/// allocation. Throws Error(environment) where they contradict each other.
std::optional<Allocation> allocation_from(const std::map<std::string, std::string>& environment);
std::optional<Allocation> current_allocation();

/// "n9 is not in the Slurm allocation 17 (n[1-2])" for the first of these that is not; else "".
std::string host_outside(const Allocation& allocation, const std::vector<std::string>& hosts);

/// Its nodes are the hosts, their CPUs the slots.
Inventory inventory_of(const Allocation& allocation);

}  // namespace bench

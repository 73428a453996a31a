// The current Slurm allocation, from the environment.
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
  std::map<std::string, int> cpus;  // node -> CPUs of the job
  bool has(const std::string& node) const { return cpus.contains(node); }
  bool operator==(const Allocation&) const = default;
};

/// Parses SLURM_JOB_CPUS_PER_NODE: "8(x2),4" is 8, 8, 4. Throws Error(input) for invalid text, a
/// count of 0, or more than `at_most` nodes.
std::vector<int> expand_cpus_per_node(std::string_view text, std::size_t at_most);

/// Whether the text is a Slurm job ID: digits, not too many.
bool is_job_number(std::string_view text);

/// From SLURM_JOB_ID, SLURM_JOB_NODELIST and SLURM_JOB_CPUS_PER_NODE; empty outside of an
/// allocation. Throws Error(environment) if they are inconsistent.
std::optional<Allocation> allocation_from(const std::map<std::string, std::string>& environment);
std::optional<Allocation> current_allocation();

/// "n9 is not in the Slurm allocation 17 (n[1-2])" for the first host outside of it; else "".
std::string host_outside(const Allocation& allocation, const std::vector<std::string>& hosts);

/// Nodes become hosts, their CPUs slots.
Inventory inventory_of(const Allocation& allocation);

}  // namespace bench

#include "runner/hosts/allocation.h"

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/hostlist.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kMaxJobDigits = 18;
constexpr int kMostCpus = 100'000;  // as the slots of a host

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw Error(ErrorKind::input, "'" + printable(text.substr(0, 60)) + "' is not a CPU list: " + why,
              "expected the format of SLURM_JOB_CPUS_PER_NODE, for example 8(x2),4");
}

/// A whole number from 1 to `most` that ends where `text` ends.
std::optional<std::size_t> count_of(std::string_view text, std::size_t most) {
  const auto value = parse_as<std::size_t>(text);
  return value && *value >= 1 && *value <= most ? value : std::nullopt;
}

Allocation described(const std::string& job, const std::string& nodes, const std::string& cpus) {
  Allocation allocation{job, expand_hostlist(nodes), {}};
  const std::vector<int> counts = expand_cpus_per_node(cpus, allocation.nodes.size());
  if (counts.size() != allocation.nodes.size())
    throw Error(ErrorKind::input,
                "SLURM_JOB_NODELIST has " + std::to_string(allocation.nodes.size()) +
                    " nodes and SLURM_JOB_CPUS_PER_NODE " + std::to_string(counts.size()));
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (!allocation.cpus.emplace(allocation.nodes[i], counts[i]).second)
      throw Error(ErrorKind::input, "SLURM_JOB_NODELIST lists " + allocation.nodes[i] + " twice");
  return allocation;
}

}  // namespace

std::vector<int> expand_cpus_per_node(std::string_view text, std::size_t at_most) {
  std::vector<int> counts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    std::string_view item = text.substr(at, end - at);
    std::size_t times = 1;
    if (const auto open = item.find("(x"); open != std::string_view::npos) {
      const auto repeat = item.ends_with(')')
                              ? count_of(item.substr(open + 2, item.size() - open - 3), at_most)
                              : std::nullopt;
      if (!repeat) refuse(text, "'" + printable(item) + "' has an invalid repeat count");
      times = *repeat;
      item = item.substr(0, open);
    }
    const auto cpus = count_of(item, kMostCpus);
    if (!cpus) refuse(text, "'" + printable(item) + "' is not a CPU count");
    if (times > at_most - counts.size())
      refuse(text, "it covers more than " + std::to_string(at_most) + " nodes");
    counts.insert(counts.end(), times, static_cast<int>(*cpus));
    at = end + 1;
  }
  return counts;
}

bool is_job_number(std::string_view text) {
  return !text.empty() && text.size() <= kMaxJobDigits && std::ranges::all_of(text, is_digit);
}

std::optional<Allocation> allocation_from(const std::map<std::string, std::string>& environment) {
  const auto value = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  const std::string job = value("SLURM_JOB_ID");
  if (job.empty()) return {};
  if (!is_job_number(job))
    throw Error(ErrorKind::environment, "SLURM_JOB_ID is '" + printable(job) + "', not a job ID",
                "unset it outside of an allocation");
  try {
    return described(job, value("SLURM_JOB_NODELIST"), value("SLURM_JOB_CPUS_PER_NODE"));
  } catch (const Error& error) {
    throw Error(ErrorKind::environment,
                "cannot parse Slurm allocation " + job + ": " + error.what(),
                "use --launcher mpirun, or unset SLURM_JOB_ID outside of an allocation");
  }
}

std::optional<Allocation> current_allocation() {
  std::map<std::string, std::string> environment;
  for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_JOB_CPUS_PER_NODE"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  return allocation_from(environment);
}

std::string host_outside(const Allocation& allocation, const std::vector<std::string>& hosts) {
  const auto host = std::ranges::find_if_not(
      hosts, [&](const std::string& name) { return allocation.has(name); });
  if (host == hosts.end()) return "";
  return *host + " is not in the Slurm allocation " + allocation.job + " (" +
         compact_hostlist(allocation.nodes) + ")";
}

Inventory inventory_of(const Allocation& allocation) {
  Inventory inventory;
  for (const std::string& node : allocation.nodes)
    inventory.hosts.push_back({node, node, allocation.cpus.at(node), Json(), {}});
  return inventory;
}

}  // namespace bench

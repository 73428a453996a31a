// Which working sets the memory probes look at, and which level of the memory each of them lies in.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "devices/memory.h"
#include "probes/state.h"

namespace bench {

/// "L1", "L2", ... : the first that holds the working set; "memory" from four times the last cache
/// on; between these "L3/memory", as a part is found in the cache; "unknown" where no cache is
/// known.
std::string memory_level(const std::vector<CacheLevel>& caches, double bytes, int threads);

/// What a job may allocate on this rank: `max_bytes`, or half of what is available where that is 0,
/// divided by the ranks (which may share a host), the least of all ranks.
double memory_budget(State& state, const MemorySystem& memory);

/// Sizes wanted by the parameters `sizes` (0 stands for the headline) and `curve`.
struct MemorySizes {
  double headline = 0.0;  // measured as such
  double wanted = 0.0;  // four times the last cache; the headline is smaller where memory is short
  double last_cache = 0.0;
  double budget = 0.0;      // what this job may allocate
  std::vector<double> all;  // descending, no two alike; some may be over the budget

  bool short_of_memory() const { return headline < wanted; }
  /// Why the headline is not far past the last cache.
  std::string shortage() const;
  /// Why a size that was asked for is not measured; "" when it can be.
  std::string over_budget(double bytes) const;
};
MemorySizes plan_memory_sizes(const State& state, const std::vector<CacheLevel>& caches, int cores,
                              double budget);

/// The host's caches and the headline as facts of the job.
Json memory_facts(const MemorySystem& memory, const MemorySizes& sizes);

/// Adds the nodes of a place to a series' params, where it has some.
void add_place(Json& params, const MemoryPlace& place);

/// Every node with cores of ours paired with every node that has memory.
std::vector<MemoryPlace> node_pairs(const std::vector<MemoryNode>& nodes);

/// Why these pages are no huge pages; "" when they are.
std::string too_few_huge_pages(double share);

}  // namespace bench

// The working sets of the memory probes, and the memory level of each.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "devices/memory.h"
#include "probes/state.h"

namespace bench {

/// "L1", "L2", ...: the first cache that holds the working set; "memory" from four times the last
/// cache; between these "L3/memory", because part of the data is in the cache; "unknown" without
/// known caches.
std::string memory_level(const std::vector<CacheLevel>& caches, double bytes, int threads);

/// What a job may allocate on this rank: `max_bytes`, or half of the available memory if that is 0,
/// divided by the number of ranks (which may share a host); the minimum over all ranks.
double memory_budget(State& state, const MemorySystem& memory);

/// Sizes by the parameters `sizes` (0 means the headline) and `curve`.
struct MemorySizes {
  double headline = 0.0;  // measured as such
  double wanted = 0.0;    // four times the last cache; the headline is smaller if memory is short
  double last_cache = 0.0;
  double budget = 0.0;      // what this job may allocate
  std::vector<double> all;  // descending, no two alike; some may be over the budget

  bool short_of_memory() const { return headline < wanted; }
  /// Why the headline is not far past the last cache.
  std::string shortage() const;
  /// Why a requested size is not measured; "" if it can be.
  std::string over_budget(double bytes) const;
};
MemorySizes plan_memory_sizes(const State& state, const std::vector<CacheLevel>& caches, int cores,
                              double budget);

/// The host's caches and the headline as facts of the job.
Json memory_facts(const MemorySystem& memory, const MemorySizes& sizes);

/// Adds the nodes of a place, if it has any, to a series' params.
void add_place(Json& params, const MemoryPlace& place);

/// Why these pages do not count as huge; "" if they do.
std::string too_few_huge_pages(double share);

/// What the memory probes have in common: by the job's parameters, each kind of page, in the
/// nearest memory or between each pair of NUMA nodes.
class MemorySweep {
 public:
  virtual ~MemorySweep() = default;
  void run();

 protected:
  /// Series that cannot be measured are skipped under the name `metric`. `cores` decide on caches.
  MemorySweep(State& state, MemorySystem& memory, const char* metric, int cores);

  /// All sizes in the nearest memory.
  virtual void measure_near(Pages pages) = 0;
  /// The headline size, by the cores of one node in the memory of another.
  virtual void measure_pair(Pages pages, const MemoryPlace& place, int cores) = 0;

  void skip(const Json& params, const std::string& reason) {
    state_.skip_series(metric_, params, reason);
  }

  State& state_;
  MemorySystem& memory_;
  const char* metric_;
  std::vector<CacheLevel> caches_;
  MemorySizes sizes_;

 private:
  void measure_pairs(Pages pages);
};

}  // namespace bench

// Latency of caches and memory: a chain of pointers through the whole working set, one per cache
// line, in one random cycle. Each load depends on the previous one, so neither the prefetcher nor
// the out-of-order core can run ahead. The time of a load includes its TLB miss: on small pages
// nearly every load past the TLB's reach has one, followed by a page walk (in a virtual machine
// through two tables); on huge pages few have.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "devices/memory.h"
#include "probes/probe.h"
#include "probes/shared/memory_sizes.h"
#include "probes/state.h"

namespace bench {
namespace {

constexpr double kLeastChain = 4096.0;

/// Chains have 2^n lines: sizes are rounded down to a power of two, the headline up where it fits.
std::vector<double> chain_sizes(const MemorySizes& sizes) {
  std::vector<double> chains;
  for (double bytes : sizes.all) {
    const auto whole = static_cast<std::uint64_t>(bytes);
    const auto up = static_cast<double>(std::bit_ceil(whole));
    const bool grow = bytes == sizes.headline && up <= sizes.budget;
    chains.push_back(grow ? up : static_cast<double>(std::bit_floor(whole)));
  }
  const auto doubled = std::ranges::unique(chains);
  chains.erase(doubled.begin(), doubled.end());
  return chains;
}

class LatencySweep final : public MemorySweep {
 public:
  LatencySweep(State& state, MemorySystem& memory)
      : MemorySweep(state, memory, "latency", 1), chains_(chain_sizes(sizes_)) {}

 private:
  void measure_near(Pages pages) override { measure(pages, {}, chains_); }
  void measure_pair(Pages pages, const MemoryPlace& place, int) override {
    measure(pages, place, {chains_.front()});
  }

  void measure(Pages pages, const MemoryPlace& place, const std::vector<double>& sizes) {
    const double largest = std::min(sizes.front(), sizes_.budget);
    const auto chain = memory_.chain({largest, pages, place, state_.job().seed});
    for (double bytes : sizes) {
      Json params = {{"pages", kPages.name(pages)},
                     {"size_bytes", static_cast<std::int64_t>(bytes)},
                     {"level", memory_level(caches_, bytes, 1)}};
      add_place(params, place);
      const std::string over = sizes_.over_budget(bytes);
      if (bytes < kLeastChain)
        skip(params, "less than 4 KiB");
      else if (!over.empty())
        skip(params, over);
      else
        measure_chain(*chain, pages, bytes, params);
    }
  }

  void measure_chain(MemoryChain& chain, Pages pages, double bytes, const Json& params) {
    chain.prepare(bytes);
    const std::string few = pages == Pages::huge ? too_few_huge_pages(chain.huge_share()) : "";
    if (!few.empty()) return skip(params, few);
    Measurement measurement;
    measurement.params = params;
    measurement.work = [&](std::int64_t loads) { chain.run(loads); };
    measurement.one_launch = true;
    measurement.reports = {{"latency"}};
    measurement.verify = [&] { return chain.verify(); };
    state_.measure(measurement);
  }

  std::vector<double> chains_;
};

void run_memory_latency(State& state) {
  MemorySystem* memory = state.device().memory();
  if (memory == nullptr) return state.skip("no pointer chasing on this device");
  LatencySweep(state, *memory).run();
}

const Registration memory_latency_probe{"memory_latency", run_memory_latency};

}  // namespace
}  // namespace bench

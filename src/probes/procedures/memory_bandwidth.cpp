// Bandwidth of the caches and of memory: read, write, copy and triad over f64, with plain and
// non-temporal stores, on small and on huge pages, over sizes and threads, and for each pair of
// NUMA nodes. `bandwidth` counts what the program asked for (read N, write N, copy 2N, triad 3N
// bytes), `traffic` also the line that a plain store reads before it writes (write 2N, copy 3N,
// triad 4N).
//
// One sample is some milliseconds: a large working set is gone through window by window, each call
// the next one. So clean samples exist even on a busy machine, and every line that is met was last
// met a whole working set ago.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/text.h"
#include "devices/memory.h"
#include "probes/probe.h"
#include "probes/shared/memory_sizes.h"
#include "probes/state.h"

namespace bench {
namespace {

struct Stream {
  MemoryKernel kernel;
  Stores stores;
};

/// The streams asked for, in the order that spoils least of what the next one reads.
std::vector<Stream> streams(const State& state) {
  const auto kernels = state.list<std::string>("kernels");
  const auto stores = state.list<std::string>("stores");
  std::vector<Stream> all;
  for (MemoryKernel kernel :
       {MemoryKernel::read, MemoryKernel::triad, MemoryKernel::copy, MemoryKernel::write}) {
    if (std::ranges::find(kernels, kMemoryKernels.name(kernel)) == kernels.end()) continue;
    if (kernel == MemoryKernel::read)
      all.push_back({kernel, Stores::none});
    else
      for (const std::string& word : stores)
        all.push_back({kernel, kStores.value(word, "kind of store")});
  }
  return all;
}

/// The thread counts asked for, 0 standing for all cores; the most first.
std::vector<int> thread_counts(const State& state, int cores) {
  std::vector<int> counts = state.list<int>("threads");
  for (int& count : counts)
    if (count == 0) count = cores;
  if (state.flag("thread_sweep"))
    for (int count = 1; count < cores; count *= 2) counts.push_back(count);
  if (state.flag("thread_sweep")) counts.push_back(cores);
  std::ranges::sort(counts, std::greater{});
  const auto doubled = std::ranges::unique(counts);
  counts.erase(doubled.begin(), doubled.end());
  return counts;
}

class BandwidthSweep {
 public:
  BandwidthSweep(State& state, MemorySystem& memory)
      : state_(state),
        memory_(memory),
        caches_(memory.caches()),
        streams_(streams(state)),
        sizes_(plan_memory_sizes(state, caches_, state.device().cores(),
                                 memory_budget(state, memory))) {}

  void run() {
    state_.facts("memory", memory_facts(memory_, sizes_));
    if (sizes_.short_of_memory())
      state_.skip_series("bandwidth", {{"level", "memory"}}, sizes_.shortage());
    for (const std::string& word : state_.list<std::string>("pages")) {
      const Pages pages = kPages.value(word, "kind of page");
      const std::string none = pages == Pages::huge ? memory_.no_huge_pages() : "";
      if (!none.empty())
        state_.skip_series("bandwidth", {{"pages", word}}, none);
      else if (state_.text("numa") == "pairs")
        measure_pairs(pages);
      else
        measure(pages, possible_thread_counts(), {}, sizes_.all);
    }
  }

 private:
  void measure_pairs(Pages pages) {
    const std::vector<MemoryNode> nodes = memory_.nodes();
    if (nodes.size() < 2)
      return state_.skip_series("bandwidth", {{"numa", "pairs"}, {"pages", kPages.name(pages)}},
                                "this machine has only one NUMA node");
    for (const MemoryPlace& place : node_pairs(nodes))
      for (const MemoryNode& node : nodes)
        if (node.id == *place.cpu_node)
          measure(pages, {static_cast<int>(node.cores.size())}, place, {sizes_.headline});
  }

  /// The thread counts asked for, without those this rank has no cores for.
  std::vector<int> possible_thread_counts() {
    const int cores = state_.device().cores();
    std::vector<int> counts = thread_counts(state_, cores);
    std::erase_if(counts, [&](int count) {
      if (count > cores)
        state_.skip_series("bandwidth", {{"threads", count}},
                           "this rank may use " + std::to_string(cores) + " cores");
      return count > cores;
    });
    return counts;
  }

  void measure(Pages pages, const std::vector<int>& counts, const MemoryPlace& place,
               const std::vector<double>& sizes) {
    if (counts.empty()) return;
    const double largest = std::min(sizes.front(), sizes_.budget);
    const auto arrays = memory_.arrays({largest, counts.front(), pages, place});
    Json params = {{"pages", kPages.name(pages)}};
    add_place(params, place);
    if (pages == Pages::huge) {
      const double share = arrays->huge_share();
      state_.value("huge_share", share, params);
      const std::string few = too_few_huge_pages(share);
      if (!few.empty()) return state_.skip_series("bandwidth", params, few);
    }
    for (int threads : counts)
      for (double bytes : sizes) measure_size(*arrays, bytes, threads, params);
  }

  void measure_size(MemoryArrays& arrays, double bytes, int threads, Json params) {
    params["threads"] = threads;
    params["size_bytes"] = static_cast<std::int64_t>(bytes);
    params["level"] = memory_level(caches_, bytes, threads);
    const double least = memory_.least_bytes(threads);
    if (bytes < least)
      return state_.skip_series("bandwidth", params,
                                "less than " + format(Bytes{least}) + " is not measured");
    const std::string over = sizes_.over_budget(bytes);
    if (!over.empty()) return state_.skip_series("bandwidth", params, over);
    for (const Stream& stream : streams_) measure_stream(arrays, stream, bytes, threads, params);
  }

  void measure_stream(MemoryArrays& arrays, const Stream& stream, double bytes, int threads,
                      Json params) {
    params["kernel"] = kMemoryKernels.name(stream.kernel);
    params["stores"] = kStores.name(stream.stores);
    const std::string none = stream.stores == Stores::nontemporal ? memory_.no_nontemporal() : "";
    if (!none.empty()) return state_.skip_series("bandwidth", params, none);
    const StreamAmount amount = arrays.prepare({stream.kernel, stream.stores, bytes, threads});
    Measurement measurement;
    measurement.params = std::move(params);
    measurement.work = [&](std::int64_t calls) { arrays.run(calls); };
    measurement.reports = {{"bandwidth", amount.payload}, {"traffic", amount.traffic}};
    measurement.verify = [&] { return arrays.verify(); };
    measurement.core_share = [&] { return arrays.core_share(); };
    measurement.threads = threads;
    state_.measure(measurement);
  }

  State& state_;
  MemorySystem& memory_;
  std::vector<CacheLevel> caches_;
  std::vector<Stream> streams_;
  MemorySizes sizes_;
};

void run_memory_bandwidth(State& state) {
  MemorySystem* memory = state.device().memory();
  if (memory == nullptr) return state.skip("no memory streams on this device");
  BandwidthSweep(state, *memory).run();
}

const Registration memory_bandwidth_probe{"memory_bandwidth", run_memory_bandwidth};

}  // namespace
}  // namespace bench

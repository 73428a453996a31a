// Bandwidth of caches and memory: read, write, copy and triad over f64, with plain and non-temporal
// stores, on small and huge pages, over sizes and thread counts, and for each pair of NUMA nodes.
// `bandwidth` counts the bytes that the program accesses (read N, write N, copy 2N, triad 3N),
// `traffic` also the line that a plain store reads before it writes (write 2N, copy 3N, triad 4N).
//
// A sample takes some milliseconds: each call processes the next window of a large working set. So
// even a busy machine yields clean samples, and every line was last accessed a whole working set
// ago.
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

/// The requested streams, in the order that disturbs the data of the next one least.
std::vector<Stream> streams(const State& state) {
  const auto stores = state.list<std::string>("stores");
  std::vector<Stream> all;
  for (MemoryKernel kernel :
       {MemoryKernel::read, MemoryKernel::triad, MemoryKernel::copy, MemoryKernel::write}) {
    if (!state.lists("kernels", kMemoryKernels.name(kernel))) continue;
    if (kernel == MemoryKernel::read)
      all.push_back({kernel, Stores::none});
    else
      for (const std::string& word : stores)
        all.push_back({kernel, kStores.value(word, "kind of store")});
  }
  return all;
}

/// The requested thread counts in descending order; 0 means all cores.
std::vector<int> thread_counts(const State& state, int cores) {
  std::vector<int> counts = state.list<int>("threads");
  for (int& count : counts)
    if (count == 0) count = cores;
  if (state.flag("thread_sweep")) {
    for (int count = 1; count < cores; count *= 2) counts.push_back(count);
    counts.push_back(cores);
  }
  std::ranges::sort(counts, std::greater{});
  const auto doubled = std::ranges::unique(counts);
  counts.erase(doubled.begin(), doubled.end());
  return counts;
}

class BandwidthSweep final : public MemorySweep {
 public:
  BandwidthSweep(State& state, MemorySystem& memory)
      : MemorySweep(state, memory, "bandwidth", state.device().cores()), streams_(streams(state)) {}

 private:
  void measure_near(Pages pages) override {
    measure(pages, possible_thread_counts(), {}, sizes_.all);
  }
  void measure_pair(Pages pages, const MemoryPlace& place, int cores) override {
    measure(pages, {cores}, place, {sizes_.headline});
  }

  /// The requested thread counts that this rank has cores for.
  std::vector<int> possible_thread_counts() {
    const int cores = state_.device().cores();
    std::vector<int> counts = thread_counts(state_, cores);
    std::erase_if(counts, [&](int count) {
      if (count > cores)
        skip({{"threads", count}}, "this rank may use " + std::to_string(cores) + " cores");
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
      if (!few.empty()) return skip(params, few);
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
      return skip(params, "less than " + format(Bytes{least}) + " is not measured");
    const std::string over = sizes_.over_budget(bytes);
    if (!over.empty()) return skip(params, over);
    for (const Stream& stream : streams_) measure_stream(arrays, stream, bytes, threads, params);
  }

  void measure_stream(MemoryArrays& arrays, const Stream& stream, double bytes, int threads,
                      Json params) {
    params["kernel"] = kMemoryKernels.name(stream.kernel);
    params["stores"] = kStores.name(stream.stores);
    const std::string none = stream.stores == Stores::nontemporal ? memory_.no_nontemporal() : "";
    if (!none.empty()) return skip(params, none);
    const StreamAmount amount = arrays.prepare({stream.kernel, stream.stores, bytes, threads});
    if (const std::string way = arrays.way(); !way.empty())
      state_.facts("memory_way", {{"params", params}, {"way", way}});
    Measurement measurement;
    measurement.params = std::move(params);
    measurement.work = [&](std::int64_t calls) { arrays.run(calls); };
    measurement.reports = {{"bandwidth", amount.payload}, {"traffic", amount.traffic}};
    measurement.verify = [&] { return arrays.verify(); };
    measurement.core_share = [&] { return arrays.core_share(); };
    measurement.threads = threads;
    state_.measure(measurement);
  }

  std::vector<Stream> streams_;
};

void run_memory_bandwidth(State& state) {
  MemorySystem* memory = state.device().memory();
  if (memory == nullptr) return state.skip("no memory streams on this device");
  BandwidthSweep(state, *memory).run();
}

const Registration memory_bandwidth_probe{"memory_bandwidth", run_memory_bandwidth};

}  // namespace
}  // namespace bench

// The host's memory as a MemorySystem.
#include <algorithm>
#include <iterator>
#include <string>

#include "core/error.h"
#include "probes/backends/host/host_cpus.h"
#include "probes/backends/host/memory_arrays.h"
#include "probes/backends/host/memory_chain.h"
#include "probes/backends/host/memory_survey.h"

namespace bench {
namespace {

class HostMemory final : public MemorySystem {
 public:
  HostMemory(const HostCpus& cores, HostThreadWatch& watch) : cores_(cores), watch_(watch) {}

  std::vector<CacheLevel> caches() const override { return read_caches(cores_.all()); }
  std::vector<MemoryNode> nodes() const override { return read_memory_nodes(cores_.all()); }
  double available_bytes() const override { return read_available_bytes(); }
  std::string instructions() const override { return stream_kernels().instructions; }
  std::string no_huge_pages() const override { return bench::no_huge_pages(); }
  std::string no_nontemporal() const override {
    return stream_kernels().nontemporal ? "" : "no non-temporal store for this CPU";
  }

  std::unique_ptr<MemoryArrays> arrays(const ArraysRequest& request) override {
    return std::make_unique<HostArrays>(request, choose(request.threads, request.place),
                                        touch_decides(request.place), watch_);
  }

  std::unique_ptr<MemoryChain> chain(const ChainRequest& request) override {
    const auto levels = caches();
    const double cached = levels.empty() ? 0.0 : levels.back().bytes;
    auto cores = choose(1, request.place);  // all may help to write the chain where none decides
    if (!touch_decides(request.place)) {    // by its touch on which node it lies
      std::ranges::copy_if(cores_.all(), std::back_inserter(cores),
                           [walker = cores.front()](int core) { return core != walker; });
    }
    return std::make_unique<HostChain>(request, std::move(cores), cached, watch_);
  }

 private:
  /// Whether a page lies on the node of the thread that touches it first, and there are several.
  bool touch_decides(const MemoryPlace& place) const {
    return !place.memory_node && nodes().size() > 1;
  }

  std::vector<int> choose(int threads, const MemoryPlace& place) const {
    if (!place.cpu_node) return cores_.first(threads);
    for (const MemoryNode& node : nodes())
      if (node.id == *place.cpu_node) return HostCpus(node.cores).first(threads);
    throw Error(ErrorKind::input, "no NUMA node " + std::to_string(*place.cpu_node));
  }

  HostCpus cores_;
  HostThreadWatch& watch_;
};

}  // namespace

std::unique_ptr<MemorySystem> make_host_memory(const HostCpus& cores, HostThreadWatch& watch) {
  return std::make_unique<HostMemory>(cores, watch);
}

}  // namespace bench

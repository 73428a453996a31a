#include "probes/backends/cuda/cuda_memory.h"

#include "probes/backends/cuda/cuda_arrays.h"
#include "probes/backends/cuda/cuda_chain.h"
#include "probes/backends/cuda/rotation.h"

namespace bench {
namespace {

class CudaMemory final : public MemorySystem {
 public:
  explicit CudaMemory(cudaStream_t stream) : stream_(stream) {}

  // The first cache belongs to each multiprocessor and the kernels go past it.
  std::vector<CacheLevel> caches() const override {
    return {{.level = 2, .bytes = static_cast<double>(l2_bytes()), .shared_by = 1}};
  }
  std::vector<MemoryNode> nodes() const override {
    return {{.id = 0, .cores = {0}, .has_memory = true}};
  }
  /// A thread block's share of each of a triad's three arrays.
  double least_bytes(int) const override { return 3.0 * kStreamGrain * sizeof(double); }
  double available_bytes() const override {
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "free memory");
    return static_cast<double>(free);
  }
  std::string no_huge_pages() const override { return "GPU memory has no choice of page size"; }
  std::string no_nontemporal() const override { return ""; }
  std::string instructions() const override { return "16-byte loads and stores"; }
  std::unique_ptr<MemoryArrays> arrays(const ArraysRequest& request) override {
    return std::make_unique<CudaArrays>(request, stream_);
  }
  std::unique_ptr<MemoryChain> chain(const ChainRequest& request) override {
    return std::make_unique<CudaChain>(request, stream_);
  }

 private:
  cudaStream_t stream_;
};

}  // namespace

std::unique_ptr<MemorySystem> make_cuda_memory(cudaStream_t stream) {
  return std::make_unique<CudaMemory>(stream);
}

}  // namespace bench

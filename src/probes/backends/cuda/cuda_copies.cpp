#include "probes/backends/cuda/cuda_copies.h"

#include <vector>

#include "probes/backends/cuda/cuda_copy.h"
#include "probes/backends/cuda/cuda_uploads.h"
#include "probes/facts/system_files.h"

namespace bench {
namespace {

class CudaCopies final : public Copies {
 public:
  CudaCopies(int device, cudaStream_t stream) : device_(device), stream_(stream) {}

  std::vector<int> peers() const override {
    int count = 0;
    check(cudaGetDeviceCount(&count), "count the GPUs");
    std::vector<int> others;
    for (int other = 0; other < count; ++other)
      if (other != device_) others.push_back(other);
    return others;
  }

  /// Where GPUs' own memory is a node of the host's too (GH200, GB200), that node is not.
  std::vector<int> numa_nodes() const override {
    std::vector<int> nodes =
        SystemFiles().list("sys/devices/system/node/has_memory").value_or(std::vector<int>{0});
    for (const int node : nodes_of_gpus()) std::erase(nodes, node);
    return nodes;
  }

  CopyOffer prepare(const CopyRequest& request) override {
    if (request.bytes % sizeof(std::uint64_t) != 0)
      return {nullptr, "the size must be a multiple of 8 bytes so that every word can be checked"};
    if (uses_peer(request.route)) {
      const std::string obstacle = open_peer(request.peer);
      if (!obstacle.empty()) return {nullptr, obstacle};
    }
    try {
      return {std::make_unique<CudaCopy>(request, device_, stream_, ++seed_ * 2), ""};
    } catch (const MemoryRefused& refused) {
      return {nullptr, refused.what()};
    }
  }

  PageLockOffer lock(std::span<std::byte> memory) override { return lock_for_cuda(memory); }
  UploadsOffer uploads(std::size_t bytes) override { return make_cuda_uploads(bytes); }

 private:
  static std::vector<int> nodes_of_gpus() {
    int count = 0;
    check(cudaGetDeviceCount(&count), "count the GPUs");
    std::vector<int> nodes;
    for (int gpu = 0; gpu < count; ++gpu) {
      int is_node = 0, node = 0;
      const bool known =
          cudaDeviceGetAttribute(&is_node, cudaDevAttrNumaConfig, gpu) == cudaSuccess &&
          cudaDeviceGetAttribute(&node, cudaDevAttrNumaId, gpu) == cudaSuccess;
      if (!known) cudaGetLastError();  // a driver that does not know the question has no such GPU
      if (known && is_node == cudaDeviceNumaConfigNumaNode) nodes.push_back(node);
    }
    return nodes;
  }

  /// Without direct access a copy would go through the host, which is another measurement.
  std::string open_peer(int peer) const {
    int reachable = 0;
    check(cudaDeviceCanAccessPeer(&reachable, device_, peer), "query peer access");
    if (reachable == 0)
      return "GPU " + std::to_string(device_) + " has no peer access to GPU " +
             std::to_string(peer);
    const cudaError_t code = cudaDeviceEnablePeerAccess(peer, 0);
    if (code == cudaErrorPeerAccessAlreadyEnabled)
      cudaGetLastError();  // it stays behind as the last error otherwise
    else
      check(code, "enable peer access to GPU " + std::to_string(peer));
    return "";
  }

  int device_;
  cudaStream_t stream_;
  std::uint64_t seed_ = 0;
};

}  // namespace

std::unique_ptr<Copies> make_cuda_copies(int device, cudaStream_t stream) {
  return std::make_unique<CudaCopies>(device, stream);
}

}  // namespace bench

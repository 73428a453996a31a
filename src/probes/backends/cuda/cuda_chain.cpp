#include "probes/backends/cuda/cuda_chain.h"

#include <cmath>
#include <vector>

#include "probes/backends/cuda/chain_kernel.h"
#include "probes/backends/cuda/finished_copies.h"
#include "probes/backends/cuda/injected_fault.h"

namespace bench {
namespace {

constexpr unsigned kLeastBits = 2;  // until the first prepare()

}  // namespace

CudaChain::CudaChain(const ChainRequest& request, cudaStream_t stream)
    : seed_(request.seed),
      stream_(stream),
      order_(kLeastBits, seed_),
      memory_(static_cast<std::size_t>(request.bytes)),
      position_(sizeof(std::uint64_t)) {}

void CudaChain::prepare(double bytes) {
  order_ = ChainOrder(chain_bits(bytes, kNodeBytes, memory_.bytes()), seed_);
  constexpr std::size_t kWords = kNodeBytes / sizeof(std::uint64_t);
  std::vector<std::uint64_t> nodes(order_.nodes() * kWords, 0);
  for (std::uint64_t i = 0; i < order_.nodes(); ++i)
    nodes[i * kWords] = order_.next(i) * kNodeBytes;
  const std::uint64_t start = order_.after(0) * kNodeBytes;
  copy_now(memory_.as<>(), nodes.data(), nodes.size() * sizeof(std::uint64_t), "copy the chain to the GPU");
  copy_now(position_.as<>(), &start, sizeof start, "set the start of the chain");
  steps_ = 0;
}

void CudaChain::run(std::int64_t loads) {
  launch_chain(memory_.as<std::byte>(), position_.as<std::uint64_t>(), loads, stream_);
  steps_ += static_cast<std::uint64_t>(loads);
}

Check CudaChain::verify() {
  std::uint64_t at = 0;
  check(cudaStreamSynchronize(stream_), "the chain kernel");
  inject_fault_on_gpu(position_.as<>());
  copy_now(&at, position_.as<>(), sizeof at, "read the position in the chain");
  const double off =
      static_cast<double>(at) - static_cast<double>(order_.after(steps_) * kNodeBytes);
  return {"position after a known number of steps", std::abs(off) / kNodeBytes, 0.0};
}

}  // namespace bench

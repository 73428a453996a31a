#include <cstddef>

#include "probes/backends/cuda/chain_kernel.h"
#include "probes/backends/cuda/cuda_error.h"

namespace bench {
namespace {

__global__ void chain_kernel(const std::byte* memory, std::uint64_t* position, std::int64_t loads) {
  unsigned long long at = *position;
#pragma unroll 16
  for (std::int64_t i = 0; i < loads; ++i)
    at = __ldcg(reinterpret_cast<const unsigned long long*>(memory + at));
  *position = at;
}

}  // namespace

void launch_chain(const std::byte* memory, std::uint64_t* position, std::int64_t loads,
                  cudaStream_t stream) {
  chain_kernel<<<1, 1, 0, stream>>>(memory, position, loads);
  check_launch("the chain kernel");
}

}  // namespace bench

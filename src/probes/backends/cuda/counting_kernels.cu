#include "core/elements.h"
#include "probes/backends/cuda/counting_kernels.h"
#include "probes/backends/cuda/cuda_error.h"

namespace bench {
namespace {

constexpr int kCountingThreads = 256;
constexpr int kBlocks = 2048;  // each thread goes on by the size of the grid

__device__ std::size_t own_index() {
  return static_cast<std::size_t>(blockIdx.x) * kCountingThreads + threadIdx.x;
}

__global__ void fill_words_kernel(std::uint64_t* words, std::uint64_t seed, std::size_t count) {
  for (std::size_t i = own_index(); i < count; i += std::size_t{kCountingThreads} * kBlocks)
    words[i] = random_bits(seed, i);
}

__global__ void count_wrong_words_kernel(const std::uint64_t* words, std::uint64_t seed,
                                         std::size_t count, std::uint64_t* wrong) {
  unsigned long long found = 0;
  for (std::size_t i = own_index(); i < count; i += std::size_t{kCountingThreads} * kBlocks)
    if (words[i] != random_bits(seed, i)) ++found;
  if (found != 0) atomicAdd(reinterpret_cast<unsigned long long*>(wrong), found);
}

__global__ void add_one_kernel(std::uint64_t* counter) { *counter += 1; }

}  // namespace

void launch_fill_words(std::uint64_t* words, std::uint64_t seed, std::size_t count,
                       cudaStream_t stream) {
  fill_words_kernel<<<kBlocks, kCountingThreads, 0, stream>>>(words, seed, count);
  check_launch("the fill kernel");
}

void launch_count_wrong_words(const std::uint64_t* words, std::uint64_t seed, std::size_t count,
                              std::uint64_t* wrong, cudaStream_t stream) {
  count_wrong_words_kernel<<<kBlocks, kCountingThreads, 0, stream>>>(words, seed, count, wrong);
  check_launch("the check kernel");
}

void launch_add_one(std::uint64_t* counter, cudaStream_t stream) {
  add_one_kernel<<<1, 1, 0, stream>>>(counter);
  check_launch("the empty kernel");
}

}  // namespace bench

#include <algorithm>
#include <cstddef>

#include "core/elements.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/result_digest.h"
#include "devices/cuda/stream_kernels.h"

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

namespace {

__device__ std::uint64_t global_nanoseconds() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  return time;
}

// The time limit lets a program that failed between closing and opening the gate end.
__global__ void gate_kernel(const volatile std::uint32_t* word) {
  constexpr std::uint64_t kMostNanoseconds = 1000000000;
  const std::uint64_t begin = global_nanoseconds();
  while (*word == 0 && global_nanoseconds() - begin < kMostNanoseconds) __nanosleep(100);
}

// The global timer moves in steps of up to a microsecond on some GPUs: the interval begins and ends
// at a step, and two hundred of them make half a percent.
__global__ void clock_kernel(ClockReading* reading) {
  constexpr std::uint64_t kNanoseconds = 200000;
  std::uint64_t begin = global_nanoseconds();
  for (const std::uint64_t first = begin; begin == first;) begin = global_nanoseconds();
  const long long first_cycle = clock64();
  std::uint64_t end = begin;
  while (end - begin < kNanoseconds) end = global_nanoseconds();
  reading->cycles = static_cast<std::uint64_t>(clock64() - first_cycle);
  reading->nanoseconds = end - begin;
}

}  // namespace

void launch_gate(const std::uint32_t* word, cudaStream_t stream) {
  gate_kernel<<<1, 1, 0, stream>>>(word);
  check_launch("the gate kernel");
}

void launch_clock(ClockReading* reading, cudaStream_t stream) {
  clock_kernel<<<1, 1, 0, stream>>>(reading);
  check_launch("the clock kernel");
}

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

namespace {

constexpr int kThreads = 256;
constexpr int kVectors = 4;
static_assert(kThreads * kVectors * 2 == kStreamGrain);

template <bool evict_first>
__device__ double2 load(const double2* at) {
  return evict_first ? __ldcs(at) : *at;
}

template <bool evict_first>
__device__ void store(double2* at, double2 value) {
  if (evict_first)
    __stcs(at, value);
  else
    *at = value;
}

__device__ std::size_t first_vector() {
  return static_cast<std::size_t>(blockIdx.x) * (kThreads * kVectors) + threadIdx.x;
}

/// One atomic a block.
__device__ void add_to_slot(std::uint64_t sum, std::uint64_t* sums) {
  __shared__ unsigned long long block_sum;
  if (threadIdx.x == 0) block_sum = 0;
  __syncthreads();
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x % 32 == 0) atomicAdd(&block_sum, static_cast<unsigned long long>(sum));
  __syncthreads();
  if (threadIdx.x == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(sums) + blockIdx.x % kSumSlots, block_sum);
}

__device__ std::uint64_t bits(double value) {
  return static_cast<std::uint64_t>(__double_as_longlong(value));
}

// All loads of a thread are started before the first is used: that many bytes in flight are what
// keeps the memory busy.
template <bool evict_first>
__global__ void __launch_bounds__(kThreads) read_kernel(const double2* b, std::uint64_t* sums) {
  const std::size_t first = first_vector();
  double2 values[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) values[i] = load<evict_first>(b + first + i * kThreads);
  std::uint64_t sum = 0;
#pragma unroll
  for (int i = 0; i < kVectors; ++i) sum += bits(values[i].x) + bits(values[i].y);
  add_to_slot(sum, sums);
}

template <bool evict_first>
__global__ void __launch_bounds__(kThreads) write_kernel(double2* a, double mark) {
  const std::size_t first = first_vector();
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    store<evict_first>(a + first + i * kThreads, make_double2(mark, mark));
}

template <bool evict_first>
__global__ void __launch_bounds__(kThreads) copy_kernel(double2* a, const double2* b) {
  const std::size_t first = first_vector();
  double2 values[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) values[i] = load<evict_first>(b + first + i * kThreads);
#pragma unroll
  for (int i = 0; i < kVectors; ++i) store<evict_first>(a + first + i * kThreads, values[i]);
}

template <bool evict_first>
__global__ void __launch_bounds__(kThreads)
    triad_kernel(double2* a, const double2* b, const double2* c, double s) {
  const std::size_t first = first_vector();
  double2 left[kVectors], right[kVectors];
#pragma unroll
  for (int i = 0; i < kVectors; ++i) {
    left[i] = load<evict_first>(b + first + i * kThreads);
    right[i] = load<evict_first>(c + first + i * kThreads);
  }
#pragma unroll
  for (int i = 0; i < kVectors; ++i)
    store<evict_first>(a + first + i * kThreads,
                       make_double2(left[i].x + s * right[i].x, left[i].y + s * right[i].y));
}

template <bool evict_first>
void launch(MemoryKernel kernel, const StreamArrays& arrays, double mark, unsigned blocks,
            cudaStream_t stream) {
  auto* const a = reinterpret_cast<double2*>(arrays.a);
  const auto* const b = reinterpret_cast<const double2*>(arrays.b);
  const auto* const c = reinterpret_cast<const double2*>(arrays.c);
  switch (kernel) {
    case MemoryKernel::read:
      read_kernel<evict_first><<<blocks, kThreads, 0, stream>>>(b, arrays.sums);
      break;
    case MemoryKernel::write:
      write_kernel<evict_first><<<blocks, kThreads, 0, stream>>>(a, mark);
      break;
    case MemoryKernel::copy:
      copy_kernel<evict_first><<<blocks, kThreads, 0, stream>>>(a, b);
      break;
    case MemoryKernel::triad:
      triad_kernel<evict_first><<<blocks, kThreads, 0, stream>>>(a, b, c, mark);
      break;
  }
}

__device__ std::size_t first_element() {
  return static_cast<std::size_t>(blockIdx.x) * kStreamGrain + threadIdx.x;
}

__global__ void fill_kernel(double* a, std::uint64_t first) {
  const std::size_t begin = first_element();
  for (std::size_t i = begin; i < begin - threadIdx.x + kStreamGrain; i += kThreads)
    a[i] = pattern(first + i);
}

__global__ void count_wrong_kernel(const double* a, ExpectedWindow window, std::uint64_t* wrong) {
  const std::size_t begin = first_element();
  std::uint64_t count = 0;
  for (std::size_t i = begin; i < begin - threadIdx.x + kStreamGrain; i += kThreads)
    if (bits(a[i]) != bits(expected_element(window, i))) ++count;
  if (count != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(wrong), static_cast<unsigned long long>(count));
}

__global__ void expected_sum_kernel(std::uint64_t first, std::uint64_t* sums) {
  const std::size_t begin = first_element();
  std::uint64_t sum = 0;
  for (std::size_t i = begin; i < begin - threadIdx.x + kStreamGrain; i += kThreads)
    sum += bits(pattern(first + i));
  add_to_slot(sum, sums);
}

__global__ void __launch_bounds__(kThreads)
    digest_kernel(const WordPair* data, std::size_t pairs, std::uint64_t* sums) {
  add_to_slot(digest_of_pairs(data, pairs, std::size_t{blockIdx.x} * kThreads + threadIdx.x,
                              std::size_t{gridDim.x} * kThreads),
              sums);
}

__global__ void __launch_bounds__(kSumSlots)
    take_digest_kernel(std::uint64_t* sums, std::uint64_t expected, std::uint64_t* counter) {
  __shared__ unsigned long long sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, static_cast<unsigned long long>(sums[threadIdx.x]));
  sums[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (sum != expected) ++counter[0];
  counter[1] = sum;
}

unsigned blocks_of(std::size_t length) { return static_cast<unsigned>(length / kStreamGrain); }

}  // namespace

void launch_stream(MemoryKernel kernel, bool evict_first, const StreamArrays& arrays, double mark,
                   std::size_t length, cudaStream_t stream) {
  if (evict_first)
    launch<true>(kernel, arrays, mark, blocks_of(length), stream);
  else
    launch<false>(kernel, arrays, mark, blocks_of(length), stream);
  check_launch("a stream kernel");
}

void launch_fill(double* a, std::uint64_t first, std::size_t length, cudaStream_t stream) {
  fill_kernel<<<blocks_of(length), kThreads, 0, stream>>>(a, first);
  check_launch("the fill kernel");
}

void launch_count_wrong(const double* a, const ExpectedWindow& window, std::size_t length,
                        std::uint64_t* wrong, cudaStream_t stream) {
  count_wrong_kernel<<<blocks_of(length), kThreads, 0, stream>>>(a, window, wrong);
  check_launch("the check kernel");
}

void launch_digest(const void* data, std::size_t bytes, std::uint64_t* sums, cudaStream_t stream) {
  constexpr std::size_t kPairsOfThread = 16;  // at least, so that few blocks add to a slot
  const std::size_t pairs = bytes / sizeof(WordPair);
  const std::size_t blocks =
      std::clamp<std::size_t>(pairs / (kThreads * kPairsOfThread), 1, kBlocks);
  digest_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(
      static_cast<const WordPair*>(data), pairs, sums);
  check_launch("the digest of a result");
}

void launch_take_digest(std::uint64_t* sums, std::uint64_t expected, std::uint64_t* counter,
                        cudaStream_t stream) {
  take_digest_kernel<<<1, kSumSlots, 0, stream>>>(sums, expected, counter);
  check_launch("the comparison of a result");
}

void launch_expected_sum(std::uint64_t first, std::size_t length, std::uint64_t* sums,
                         cudaStream_t stream) {
  expected_sum_kernel<<<blocks_of(length), kThreads, 0, stream>>>(first, sums);
  check_launch("the expected sum");
}

}  // namespace bench

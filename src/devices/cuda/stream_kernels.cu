#include <algorithm>
#include <cstddef>
#include <cuda/ptx>

#include "core/elements.h"
#include "devices/cuda/chunk_ring.h"
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
constexpr int kMostVectors = 16;
static_assert(kThreads * kMostVectors * 2 == kStreamGrain);

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

template <int vectors>
__device__ std::size_t first_vector() {
  return static_cast<std::size_t>(blockIdx.x) * (kThreads * vectors) + threadIdx.x;
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
template <int vectors, bool evict_first>
__global__ void __launch_bounds__(kThreads) read_kernel(const double2* b, std::uint64_t* sums) {
  const std::size_t first = first_vector<vectors>();
  double2 values[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) values[i] = load<evict_first>(b + first + i * kThreads);
  std::uint64_t sum = 0;
#pragma unroll
  for (int i = 0; i < vectors; ++i) sum += bits(values[i].x) + bits(values[i].y);
  add_to_slot(sum, sums);
}

template <int vectors, bool evict_first>
__global__ void __launch_bounds__(kThreads) write_kernel(double2* a, double mark) {
  const std::size_t first = first_vector<vectors>();
#pragma unroll
  for (int i = 0; i < vectors; ++i)
    store<evict_first>(a + first + i * kThreads, make_double2(mark, mark));
}

template <int vectors, bool evict_first>
__global__ void __launch_bounds__(kThreads) copy_kernel(double2* a, const double2* b) {
  const std::size_t first = first_vector<vectors>();
  double2 values[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) values[i] = load<evict_first>(b + first + i * kThreads);
#pragma unroll
  for (int i = 0; i < vectors; ++i) store<evict_first>(a + first + i * kThreads, values[i]);
}

template <int vectors, bool evict_first>
__global__ void __launch_bounds__(kThreads)
    triad_kernel(double2* a, const double2* b, const double2* c, double s) {
  const std::size_t first = first_vector<vectors>();
  double2 left[vectors], right[vectors];
#pragma unroll
  for (int i = 0; i < vectors; ++i) {
    left[i] = load<evict_first>(b + first + i * kThreads);
    right[i] = load<evict_first>(c + first + i * kThreads);
  }
#pragma unroll
  for (int i = 0; i < vectors; ++i)
    store<evict_first>(a + first + i * kThreads,
                       make_double2(left[i].x + s * right[i].x, left[i].y + s * right[i].y));
}

constexpr std::size_t kChunk = 2048;  // elements, 16 KiB
constexpr std::size_t kBuffers = 12;  // of a multiprocessor
constexpr std::size_t kRingBytes = kBuffers * kChunk * sizeof(double);
static_assert(kStreamGrain % kChunk == 0);

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
/// What copy_chunks() asks for, as the bulk copies of one thread.
class BulkEngine {
 public:
  __device__ BulkEngine(double* to, const double* from, double* ring, std::uint64_t* arrivals)
      : to_(to), from_(from), ring_(ring), arrivals_(arrivals) {
    for (std::size_t i = 0; i < kBuffers; ++i) cuda::ptx::mbarrier_init(arrivals + i, 1);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);  // visible to the copies
  }

  __device__ void load(std::size_t i) {
    std::uint64_t* const arrival = arrivals_ + i % kBuffers;
    cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                         cuda::ptx::space_shared, arrival, bytes());
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, buffer(i),
                             from_ + place(i), bytes(), arrival);
  }
  __device__ void arrived(std::size_t i) {
    const auto parity = static_cast<std::uint32_t>(i / kBuffers % 2);
    while (!cuda::ptx::mbarrier_try_wait_parity(arrivals_ + i % kBuffers, parity)) {
    }
  }
  __device__ void store(std::size_t i) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, to_ + place(i),
                             buffer(i), bytes());
    cuda::ptx::cp_async_bulk_commit_group();
  }
  template <std::size_t count>
  __device__ void emptied_but() {
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<count>{});
  }

 private:
  __device__ static std::uint32_t bytes() { return kChunk * sizeof(double); }

  __device__ double* buffer(std::size_t i) const { return ring_ + i % kBuffers * kChunk; }
  __device__ static std::size_t place(std::size_t i) {
    return (blockIdx.x + i * gridDim.x) * kChunk;
  }

  double* const to_;
  const double* const from_;
  double* const ring_;
  std::uint64_t* const arrivals_;
};
#endif

__global__ void __launch_bounds__(1, 1)
    bulk_copy_kernel(double* a, const double* b, std::size_t chunks) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  extern __shared__ __align__(128) double ring[];
  __shared__ std::uint64_t arrivals[kBuffers];
  BulkEngine engine(a, b, ring, arrivals);
  copy_chunks<kBuffers>(engine, chunks_of_block(chunks, gridDim.x, blockIdx.x));
  cuda::ptx::cp_async_bulk_wait_group(cuda::ptx::n32_t<0>{});
#else
  __trap();  // has_bulk_copies()
#endif
}

/// Reserves the kernel's shared memory; the number of multiprocessors.
unsigned prepare_bulk_copies() {
  int device = 0, multiprocessors = 0;
  check(cudaGetDevice(&device), "the current GPU");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
        "query the number of multiprocessors");
  check(cudaFuncSetAttribute(bulk_copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(kRingBytes)),
        "reserve shared memory");
  return static_cast<unsigned>(multiprocessors);
}

void launch_bulk_copy(const StreamArrays& arrays, std::size_t length, cudaStream_t stream) {
  static const unsigned blocks = prepare_bulk_copies();  // a rank has one GPU
  bulk_copy_kernel<<<blocks, 1, kRingBytes, stream>>>(arrays.a, arrays.b, length / kChunk);
}

template <int vectors, bool evict_first>
void launch(MemoryKernel kernel, const StreamArrays& arrays, double mark, std::size_t length,
            cudaStream_t stream) {
  auto* const a = reinterpret_cast<double2*>(arrays.a);
  const auto* const b = reinterpret_cast<const double2*>(arrays.b);
  const auto* const c = reinterpret_cast<const double2*>(arrays.c);
  const auto blocks = static_cast<unsigned>(length / (kThreads * vectors * 2));
  switch (kernel) {
    case MemoryKernel::read:
      read_kernel<vectors, evict_first><<<blocks, kThreads, 0, stream>>>(b, arrays.sums);
      break;
    case MemoryKernel::write:
      write_kernel<vectors, evict_first><<<blocks, kThreads, 0, stream>>>(a, mark);
      break;
    case MemoryKernel::copy:
      copy_kernel<vectors, evict_first><<<blocks, kThreads, 0, stream>>>(a, b);
      break;
    case MemoryKernel::triad:
      triad_kernel<vectors, evict_first><<<blocks, kThreads, 0, stream>>>(a, b, c, mark);
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

void must_be_plain_copy(MemoryKernel kernel, bool evict_first) {
  if (kernel != MemoryKernel::copy || evict_first)
    throw Error(ErrorKind::internal, "this way serves plain copies alone");
}

unsigned blocks_of(std::size_t length) { return static_cast<unsigned>(length / kStreamGrain); }

}  // namespace

bool has_bulk_copies(int device) {
  constexpr int kFirstPtx = 90;
  int shared_bytes = 0;
  check(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "query the shared memory of a block");
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, bulk_copy_kernel), "query the code of a kernel");
  return code.ptxVersion >= kFirstPtx &&
         kRingBytes + code.sharedSizeBytes <= static_cast<std::size_t>(shared_bytes);
}

void launch_stream(MemoryKernel kernel, StreamWay way, bool evict_first, const StreamArrays& arrays,
                   double mark, std::size_t length, cudaStream_t stream) {
  const auto by_threads = [&]<int vectors>() {
    if (evict_first)
      launch<vectors, true>(kernel, arrays, mark, length, stream);
    else
      launch<vectors, false>(kernel, arrays, mark, length, stream);
  };
  switch (way) {
    case StreamWay::four:
      by_threads.template operator()<4>();
      break;
    case StreamWay::eight:
      by_threads.template operator()<8>();
      break;
    case StreamWay::sixteen:
      by_threads.template operator()<16>();
      break;
    case StreamWay::bulk:
      must_be_plain_copy(kernel, evict_first);
      launch_bulk_copy(arrays, length, stream);
      break;
    case StreamWay::driver:
      must_be_plain_copy(kernel, evict_first);
      check(cudaMemcpyAsync(arrays.a, arrays.b, length * sizeof(double), cudaMemcpyDeviceToDevice,
                            stream),
            "copy inside the GPU");
      break;
  }
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

// Kernels that stream through GPU memory, fill it and verify it. Lengths are in elements and
// multiples of kStreamGrain.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/names.h"
#include "devices/memory.h"

namespace bench {

// Expected contents of the arrays, shared by the GPU, which checks all elements, and the host,
// which checks some to verify the GPU's check.

/// A window after its last call: the position of its elements in the pattern, and the mark of the
/// call.
struct ExpectedWindow {
  MemoryKernel kernel = MemoryKernel::write;
  std::uint64_t first_b = 0;
  std::uint64_t first_c = 0;
  double mark = 0.0;
};

/// Exact in f64: |pattern| <= 2^31 and marks are below 2^21.
constexpr double expected_element(const ExpectedWindow& window, std::uint64_t i) {
  const double b = pattern(window.first_b + i);
  if (window.kernel == MemoryKernel::write) return window.mark;
  if (window.kernel == MemoryKernel::copy) return b;
  return b + window.mark * pattern(window.first_c + i);
}

/// Unique among a million calls; stored by write and multiplied by triad.
constexpr double call_mark(std::int64_t call) { return static_cast<double>(call & 0xfffff) + 2.0; }

/// Number of visits of a window in `calls` calls, the first of them on window 0.
constexpr std::int64_t visits(std::int64_t calls, std::int64_t windows, std::int64_t window) {
  return calls / windows + (window < calls % windows ? 1 : 0);
}

/// The last call on the window; -1 for none.
constexpr std::int64_t last_visit(std::int64_t calls, std::int64_t windows, std::int64_t window) {
  return window >= calls ? -1 : calls - 1 - (calls - 1 - window) % windows;
}

/// words[i] = random_bits(seed, i)
void launch_fill_words(std::uint64_t* words, std::uint64_t seed, std::size_t count,
                       cudaStream_t stream);

/// Adds the number of words that are not random_bits(seed, i).
void launch_count_wrong_words(const std::uint64_t* words, std::uint64_t seed, std::size_t count,
                              std::uint64_t* wrong, cudaStream_t stream);

/// Increments the counter.
void launch_add_one(std::uint64_t* counter, cudaStream_t stream);

struct ClockReading {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// Blocks the stream until the word in host memory is not 0, for at most about a second.
void launch_gate(const std::uint32_t* word, cudaStream_t stream);

/// Runs for a few hundred microseconds on one multiprocessor.
void launch_clock(ClockReading* reading, cudaStream_t stream);

/// One thread follows byte offsets from `*position` for `loads` steps and stores the final position
/// there. Loads bypass the L1 cache, which is local to each multiprocessor.
void launch_chain(const std::byte* memory, std::uint64_t* position, std::int64_t loads,
                  cudaStream_t stream);

/// How data are moved: so many 16-byte vectors in flight in each thread; for plain copies also by
/// the bulk copies of compute capability 9.0 (TMA), which pass through no registers, or by the
/// driver's kernel (cudaMemcpyAsync).
enum class StreamWay { four, eight, sixteen, bulk, driver };
inline constexpr NameTable<StreamWay, 5> kStreamWays{{{{StreamWay::four, "4 vectors a thread"},
                                                       {StreamWay::eight, "8 vectors a thread"},
                                                       {StreamWay::sixteen, "16 vectors a thread"},
                                                       {StreamWay::bulk, "bulk copies"},
                                                       {StreamWay::driver, "the driver's copy"}}}};

/// Whether StreamWay::bulk can be used: its kernel has code for this GPU, and the GPU so much
/// shared memory for a block (compute capability 12.0 has less than 9.0 and 10.0).
bool has_bulk_copies(int device);

/// Elements per thread block at most: 256 threads with sixteen vectors of two in flight each.
inline constexpr std::size_t kStreamGrain = 256 * 16 * 2;
/// Words for the sums of a read, to avoid contention between blocks.
inline constexpr std::size_t kSumSlots = 1024;

struct StreamArrays {
  double* a = nullptr;
  const double* b = nullptr;
  const double* c = nullptr;
  std::uint64_t* sums = nullptr;  // kSumSlots words; read adds the bits of all elements to them
};

/// `evict_first`: loads and stores hint that lines need not be cached.
void launch_stream(MemoryKernel kernel, StreamWay way, bool evict_first, const StreamArrays& arrays,
                   double mark, std::size_t length, cudaStream_t stream);

/// a[i] = pattern(first + i)
void launch_fill(double* a, std::uint64_t first, std::size_t length, cudaStream_t stream);

/// Adds the number of elements that differ in any bit.
void launch_count_wrong(const double* a, const ExpectedWindow& window, std::size_t length,
                        std::uint64_t* wrong, cudaStream_t stream);

/// Adds the digest of `bytes`, a multiple of 16, to the slots (result_digest.h).
void launch_digest(const void* data, std::size_t bytes, std::uint64_t* sums, cudaStream_t stream);

/// Empties the slots: counter[1] becomes their sum, and counter[0] one more if that is not
/// `expected`.
void launch_take_digest(std::uint64_t* sums, std::uint64_t expected, std::uint64_t* counter,
                        cudaStream_t stream);

/// Adds the bits of pattern(first) ... to the slots, as a read must.
void launch_expected_sum(std::uint64_t first, std::size_t length, std::uint64_t* sums,
                         cudaStream_t stream);

}  // namespace bench

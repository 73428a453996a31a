// The kernels that stream through the GPU's memory, and those that fill and check it. Every length
// is in elements and a multiple of kStreamGrain.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "devices/memory.h"

namespace bench {

// What arrays that were streamed through must hold, element by element; one text for the GPU, which
// checks them all, and for the host, which checks some to see that the GPU's check works.

/// One window after its last call: where its elements lie in the pattern, and that call's mark.
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

/// A number no other of the last million calls had; what write stores and triad multiplies by.
constexpr double call_mark(std::int64_t call) { return static_cast<double>(call & 0xfffff) + 2.0; }

/// How often each window was met in so many calls, the first of them on window 0.
constexpr std::int64_t visits(std::int64_t calls, std::int64_t windows, std::int64_t window) {
  return calls / windows + (window < calls % windows ? 1 : 0);
}

/// The last call that met the window; -1 for none.
constexpr std::int64_t last_visit(std::int64_t calls, std::int64_t windows, std::int64_t window) {
  return window >= calls ? -1 : calls - 1 - (calls - 1 - window) % windows;
}

// Small kernels: words that depend on their place, and a counter of launches.

/// words[i] = random_bits(seed, i)
void launch_fill_words(std::uint64_t* words, std::uint64_t seed, std::size_t count,
                       cudaStream_t stream);

/// Adds the number of words that are not random_bits(seed, i).
void launch_count_wrong_words(const std::uint64_t* words, std::uint64_t seed, std::size_t count,
                              std::uint64_t* wrong, cudaStream_t stream);

/// Adds one to the counter and does nothing else.
void launch_add_one(std::uint64_t* counter, cudaStream_t stream);

// The two kernels of the stream timer.

struct ClockReading {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// Holds the stream until the word in host memory is not 0, at most for about a second.
void launch_gate(const std::uint32_t* word, cudaStream_t stream);

/// Runs for some hundred microseconds on one multiprocessor.
void launch_clock(ClockReading* reading, cudaStream_t stream);

// One GPU thread that follows a chain of pointers.

/// Follows byte offsets from `*position` on, `loads` steps, and leaves where it stands there. Loads
/// go past the first cache, which is each multiprocessor's own.
void launch_chain(const std::byte* memory, std::uint64_t* position, std::int64_t loads,
                  cudaStream_t stream);

/// Elements of one thread block: 256 threads that hold four vectors of two in flight each.
inline constexpr std::size_t kStreamGrain = 256 * 4 * 2;
/// Words the sums of a read are spread over, so that blocks do not queue for one.
inline constexpr std::size_t kSumSlots = 1024;

struct StreamArrays {
  double* a = nullptr;
  const double* b = nullptr;
  const double* c = nullptr;
  std::uint64_t* sums = nullptr;  // kSumSlots words; read adds the bits of all elements to them
};

/// `evict_first`: loads and stores that ask the caches not to keep the lines.
void launch_stream(MemoryKernel kernel, bool evict_first, const StreamArrays& arrays, double mark,
                   std::size_t length, cudaStream_t stream);

/// a[i] = pattern(first + i)
void launch_fill(double* a, std::uint64_t first, std::size_t length, cudaStream_t stream);

/// Adds the number of elements that are not bit for bit what they must be.
void launch_count_wrong(const double* a, const ExpectedWindow& window, std::size_t length,
                        std::uint64_t* wrong, cudaStream_t stream);

/// Adds the bits of pattern(first) ... to the slots, as a read of them must.
void launch_expected_sum(std::uint64_t first, std::size_t length, std::uint64_t* sums,
                         cudaStream_t stream);

}  // namespace bench

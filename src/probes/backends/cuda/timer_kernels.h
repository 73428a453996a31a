// The two kernels of the stream timer.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace bench {

struct ClockReading {
  std::uint64_t cycles = 0;
  std::uint64_t nanoseconds = 0;
};

/// Holds the stream until the word in host memory is not 0, at most for about a second.
void launch_gate(const std::uint32_t* word, cudaStream_t stream);

/// Runs for some hundred microseconds on one multiprocessor.
void launch_clock(ClockReading* reading, cudaStream_t stream);

}  // namespace bench

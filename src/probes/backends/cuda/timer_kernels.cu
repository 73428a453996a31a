#include "probes/backends/cuda/cuda_error.h"
#include "probes/backends/cuda/timer_kernels.h"

namespace bench {
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

}  // namespace bench

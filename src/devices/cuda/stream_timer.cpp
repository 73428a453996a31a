#include "devices/cuda/stream_timer.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "devices/cuda/stream_kernels.h"

namespace bench {
namespace {

/// Then each launch waits for completion, which a closed gate would block.
bool launches_wait() {
  const char* set = std::getenv("CUDA_LAUNCH_BLOCKING");
  return set != nullptr && std::string_view(set) == "1";
}

}  // namespace

StreamTimer::StreamTimer(cudaStream_t stream)
    : stream_(stream), gate_(sizeof(std::uint32_t)), readings_(sizeof(ClockReading)) {
  // The first launch of a kernel may load it, which waits for the device: never with a closed gate.
  std::atomic_ref(*gate_.as<std::uint32_t>()).store(1);
  launch_gate(gate_.as<std::uint32_t>(), stream_);
  check(cudaStreamSynchronize(stream_), "the gate kernel");
  clock();
}

Seconds StreamTimer::time(const std::function<void()>& enqueue, std::int64_t calls,
                          const std::function<void()>& meet) {
  const std::atomic_ref gate(*gate_.as<std::uint32_t>());
  const bool hold_back = calls <= kMostHeldBack && !launches_wait();
  if (hold_back) {
    gate.store(0);
    launch_gate(gate_.as<std::uint32_t>(), stream_);
  } else if (meet) {
    meet();
  }
  try {
    check(cudaEventRecord(begin_.get(), stream_), "cudaEventRecord");
    enqueue();
    check(cudaEventRecord(end_.get(), stream_), "cudaEventRecord");
    if (hold_back && meet) meet();
  } catch (...) {
    gate.store(1);
    throw;
  }
  gate.store(1);
  check(cudaEventSynchronize(end_.get()), "the timed work");
  return between(begin_, end_);
}

Hertz StreamTimer::clock() {
  launch_clock(readings_.as<ClockReading>(), stream_);
  ClockReading reading;
  check(
      cudaMemcpyAsync(&reading, readings_.as<>(), sizeof reading, cudaMemcpyDeviceToHost, stream_),
      "read the clock");
  check(cudaStreamSynchronize(stream_), "the clock kernel");
  return {static_cast<double>(reading.cycles) / (static_cast<double>(reading.nanoseconds) * 1e-9)};
}

}  // namespace bench

// Times work on a stream by events. A gate kernel holds the stream until everything is enqueued, so
// that gaps between launches are not timed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>

#include "core/units.h"
#include "devices/cuda/cuda_error.h"

namespace bench {

class CudaEvent {
 public:
  CudaEvent() { check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~CudaEvent() { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Between two completed events.
inline Seconds between(const CudaEvent& begin, const CudaEvent& end) {
  float milliseconds = 0.0f;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return {static_cast<double>(milliseconds) * 1e-3};
}

class StreamTimer {
 public:
  explicit StreamTimer(cudaStream_t stream);

  /// Times the work that `enqueue` enqueues, and waits for it. `meet` is called before the gate
  /// opens, so that enqueueing is excluded on all ranks. A stream queues about a thousand launches,
  /// and a host that fills it would wait for the gate to time out: more calls than kMostHeldBack
  /// are timed without the gate.
  Seconds time(const std::function<void()>& enqueue, std::int64_t calls,
               const std::function<void()>& meet = {});

  /// The current multiprocessor clock: cycles over nanoseconds of a short kernel.
  Hertz clock();

  static constexpr std::int64_t kMostHeldBack = 250;

 private:
  cudaStream_t stream_;
  CudaEvent begin_, end_;
  PinnedMemory gate_;      // a word: 1 opens the gate
  DeviceMemory readings_;  // cycles and nanoseconds of the clock kernel
};

}  // namespace bench

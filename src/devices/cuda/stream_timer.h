// Times what is enqueued on a stream by events on it. A kernel that waits for a word from the host
// holds the stream back until everything is enqueued, so that gaps between launches are not in the
// time: the GPU finds all its work ready.
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

/// From one event to another, which both have been waited for.
inline Seconds between(const CudaEvent& begin, const CudaEvent& end) {
  float milliseconds = 0.0f;
  check(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "cudaEventElapsedTime");
  return {static_cast<double>(milliseconds) * 1e-3};
}

class StreamTimer {
 public:
  explicit StreamTimer(cudaStream_t stream);

  /// Enqueues by calling `enqueue` and waits until it has ended. `meet` is called before the gate
  /// opens: what a rank needs to enqueue its part is then in nobody's time. The queue of a stream
  /// holds about a thousand launches, and a host that meets a full one would wait until the gate
  /// opens by itself: more calls than kMostHeldBack are timed without holding back.
  Seconds time(const std::function<void()>& enqueue, std::int64_t calls,
               const std::function<void()>& meet = {});

  /// The multiprocessors' clock just now: cycles over nanoseconds of a short kernel.
  Hertz clock();

  static constexpr std::int64_t kMostHeldBack = 400;

 private:
  cudaStream_t stream_;
  CudaEvent begin_, end_;
  PinnedMemory gate_;      // a word: 1 lets the stream go
  DeviceMemory readings_;  // cycles and nanoseconds of the clock kernel
};

}  // namespace bench

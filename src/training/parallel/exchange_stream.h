// A device stream for the gradient exchange, separate from the kernels' stream. The host enqueues
// work and continues.
#pragma once

#include <functional>

#include "core/units.h"
#include "devices/collectives.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

class ExchangeStream {
 public:
  virtual ~ExchangeStream() = default;
  /// Collectives on the device's memory, and copies and sums in the type of the gradients: both on
  /// this stream, and only inside enqueue().
  virtual Collectives& collectives() = 0;
  virtual ElementwiseKernels& elementwise() = 0;
  /// `work` runs after all kernels enqueued before this call, concurrently with kernels enqueued
  /// afterwards.
  virtual void enqueue(const std::function<void()>& work) = 0;
  /// Waits for all enqueued work; returns the device's time for it since the last call, including
  /// waiting for late ranks.
  virtual Seconds finish() = 0;
};

}  // namespace bench::training

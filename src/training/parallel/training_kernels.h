// The kernels with which a device trains models.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/units.h"
#include "devices/collectives.h"
#include "devices/group.h"
#include "training/kernels/kernel_set.h"

namespace bench {
namespace training {

/// A device stream for the gradient exchange, separate from the kernels' stream. The host enqueues
/// work and continues.
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

}  // namespace training

class TrainingKernels {
 public:
  virtual ~TrainingKernels() = default;
  /// The implementation used, as far as the calls of the last training selected it: "avx512".
  virtual std::string name() const = 0;
  /// Begins a training. `deterministic`: use only kernels whose results are bit-identical from run
  /// to run.
  virtual void begin(bool deterministic) { static_cast<void>(deterministic); }
  /// For one lane (thread or stream); thread-safe. Throws Error(input) for an unsupported type.
  virtual training::KernelSet make(Dtype dtype) = 0;
  /// For exchanging gradients of `dtype` between ranks on devices. Call on every rank; the group
  /// must outlive it. Null if the group's own collectives are used, as on hosts, or if there is no
  /// library.
  virtual std::unique_ptr<training::ExchangeStream> exchange_stream(Group&, Dtype) {
    return nullptr;
  }
  /// make() for a thread of the device's host, for embedding tables, which are always in host
  /// memory.
  virtual training::KernelSet make_on_host(Dtype dtype) { return make(dtype); }
};

}  // namespace bench

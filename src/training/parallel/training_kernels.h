// The kernels with which a device trains models.
#pragma once

#include <memory>
#include <string>

#include "devices/group.h"
#include "training/kernels/kernel_set.h"
#include "training/parallel/exchange_stream.h"

namespace bench {

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

// The kernels with which a device trains models (probes/training/kernels).
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
  /// Which of several there are for this device, as far as the last training's calls chose:
  /// "avx512".
  virtual std::string name() const = 0;
  /// A training begins. `deterministic`: only with kernels whose results are equal to the bit from
  /// run to run, where faster ones' are not.
  virtual void begin(bool deterministic) { static_cast<void>(deterministic); }
  /// For one lane (thread or stream); lanes may be made by several threads at once. Throws
  /// Error(input) for a type that this device does not train in.
  virtual training::KernelSet make(Dtype dtype) = 0;
  /// With which ranks on devices exchange gradients of `dtype`; every rank asks alike, and the
  /// group must outlive it. Null where they go over the group's own data plane, as a host's do, and
  /// where there is nothing to exchange them with.
  virtual std::unique_ptr<training::ExchangeStream> exchange_stream(Group&, Dtype) {
    return nullptr;
  }
  /// The same for one thread of the host that drives the device: for embedding tables, which lie in
  /// host memory whatever the device.
  virtual training::KernelSet make_on_host(Dtype dtype) { return make(dtype); }
};

}  // namespace bench

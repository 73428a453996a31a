// The kernels with which a device trains models (probes/training/kernels).
#pragma once

#include <string>

#include "probes/training/kernels/kernel_set.h"

namespace bench {

class TrainingKernels {
 public:
  virtual ~TrainingKernels() = default;
  /// Which of several there are for this device: "avx512".
  virtual std::string name() const = 0;
  /// For one lane (thread or stream); lanes may be made by several threads at once. Throws
  /// Error(input) for a type that this device does not train in.
  virtual training::KernelSet make(Dtype dtype) = 0;
};

}  // namespace bench

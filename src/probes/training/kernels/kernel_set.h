// The kernels of one device, a group each, so that a test or a device can replace one group alone.
// A set belongs to one lane (thread or stream): its scratch is not shared.
#pragma once

#include <functional>
#include <memory>

#include "probes/training/kernels/activation.h"
#include "probes/training/kernels/attention.h"
#include "probes/training/kernels/bag.h"
#include "probes/training/kernels/elementwise.h"
#include "probes/training/kernels/embedding.h"
#include "probes/training/kernels/gemm.h"
#include "probes/training/kernels/loss.h"
#include "probes/training/kernels/memory.h"
#include "probes/training/kernels/norm.h"
#include "probes/training/kernels/optimizer.h"
#include "probes/training/kernels/recommender.h"
#include "probes/training/kernels/recorder.h"

namespace bench::training {

struct KernelSet {
  /// The memory of the tensors that these kernels use.
  std::shared_ptr<Memory> memory = host_memory();
  std::unique_ptr<GemmKernels> gemm = {};
  std::unique_ptr<NormKernels> norm = {};
  std::unique_ptr<RopeKernels> rope = {};
  std::unique_ptr<AttentionKernels> attention = {};
  std::unique_ptr<ActivationKernels> activation = {};
  std::unique_ptr<ElementwiseKernels> elementwise = {};
  std::unique_ptr<EmbeddingKernels> embedding = {};
  std::unique_ptr<LossKernels> loss = {};
  std::unique_ptr<OptimizerKernels> optimizer = {};
  std::unique_ptr<RecommenderKernels> recommender = {};
  std::unique_ptr<BagKernels> bags = {};
  std::unique_ptr<Recorder> recorder = {};  // null where calls cost nothing
};

/// Makes the kernels of one lane for tensors of `dtype`. Statistics (log_sum, a norm's mean and r),
/// constants and optimizer state are of accumulator_of(dtype).
using KernelFactory = std::function<KernelSet(Dtype dtype)>;

}  // namespace bench::training

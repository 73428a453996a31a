// Sums, gathers and messages of activations, parameters and their gradients over ranks that share a
// model, in host memory.
#pragma once

#include "devices/group.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

struct RankGroups {
  Group* tensor = nullptr;   // for KernelSet::ranks
  Group* copies = nullptr;   // for KernelSet::copies
  Group* context = nullptr;  // for KernelSet::context
  Group* experts = nullptr;  // for KernelSet::expert_ranks

  bool none() const {
    return tensor == nullptr && copies == nullptr && context == nullptr && experts == nullptr;
  }
};

/// `kernels`, whose sets also sum over these ranks. The bits depend on the number of ranks, not on
/// the library. The groups must outlive them, and every rank must run the same lanes in the same
/// order, in the thread that may use the groups.
KernelFactory with_rank_kernels(const KernelFactory& kernels, const RankGroups& groups);

}  // namespace bench::training

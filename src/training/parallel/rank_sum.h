// Sums of activations and their gradients over the ranks that divide a model's matrices, in host
// memory.
#pragma once

#include "devices/group.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

/// `kernels`, whose sets also sum over the ranks of this group. The bits depend on the number of
/// ranks, not on the library. The group must outlive them, and every rank must run the same lanes
/// in the same order, in the thread that may use the group.
KernelFactory with_rank_sums(const KernelFactory& kernels, Group& tensor_ranks);

}  // namespace bench::training

// Batches of a data loader on their way to a GPU.
#pragma once

#include <cstddef>
#include <span>

#include "probes/device/copies.h"

namespace bench {

/// Page-locks memory of the host for all GPUs; the reason where the driver refuses it.
PageLockOffer lock_for_cuda(std::span<std::byte> memory);

/// On a stream of its own of the GPU that is current, so that kernels run meanwhile; the reason
/// where the GPU has no room for two batches.
UploadsOffer make_cuda_uploads(std::size_t bytes);

}  // namespace bench

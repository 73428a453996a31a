// Gradient exchange over NCCL on a high-priority stream.
#pragma once

#include <memory>

#include "probes/group.h"
#include "probes/training/backends/cuda/device_context.h"
#include "probes/training/parallel/exchange_stream.h"

namespace bench::training {

/// Beside what `computing` is asked to do. Every rank makes its own at once; throws
/// Error(environment) where NCCL cannot join them. Null in a build without NCCL.
std::unique_ptr<ExchangeStream> make_nccl_exchange(Group& group, Dtype dtype,
                                                   std::shared_ptr<DeviceContext> computing);

}  // namespace bench::training

// Gradient exchange over NCCL on a high-priority stream.
#pragma once

#include <memory>

#include "probes/group.h"
#include "probes/training/backends/cuda/device_context.h"
#include "probes/training/parallel/exchange_stream.h"

namespace bench::training {

/// Exchanges concurrently with `computing`. Create it on all ranks together; throws
/// Error(environment) if NCCL cannot connect them. Null in a build without NCCL.
std::unique_ptr<ExchangeStream> make_nccl_exchange(Group& group, Dtype dtype,
                                                   std::shared_ptr<DeviceContext> computing);

}  // namespace bench::training

// Collective operations over NCCL, on the GPU's memory.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "devices/collectives.h"
#include "devices/group.h"

namespace bench {

/// Not connected: connect() does that, and throws Error(environment) with NCCL's last message on
/// failure. Null if built without NCCL.
std::unique_ptr<Collectives> make_nccl_collectives(Group& group, cudaStream_t stream);

/// "2.28.3"; "" if built without NCCL.
std::string nccl_version();

}  // namespace bench

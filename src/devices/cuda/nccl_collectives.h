// Collective operations over NCCL, on the GPU's memory.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>

#include "devices/collectives.h"
#include "devices/group.h"

namespace bench {

/// Not joined yet: connect() does it, and throws Error(environment) with NCCL's last words where it
/// cannot. Null in a build without NCCL.
std::unique_ptr<Collectives> make_nccl_collectives(Group& group, cudaStream_t stream);

/// "2.28.3"; "" in a build without NCCL.
std::string nccl_version();

}  // namespace bench

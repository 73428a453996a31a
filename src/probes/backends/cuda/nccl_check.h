// Every return code of NCCL passes here.
#pragma once

#include <string>

#ifdef BENCH_NCCL
#include <nccl.h>
#endif

#include "core/dtype.h"

namespace bench {
#ifdef BENCH_NCCL

/// Throws Error(environment) with NCCL's last words; `communicator` may be null.
void check_nccl(ncclResult_t code, ncclComm_t communicator, const std::string& what);

/// Throws Error(input) for a type that is not measured.
ncclDataType_t nccl_type(Dtype dtype);

#endif

}  // namespace bench

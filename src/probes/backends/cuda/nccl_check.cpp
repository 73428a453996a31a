#include "probes/backends/cuda/nccl_check.h"

#include "core/error.h"

namespace bench {
#ifdef BENCH_NCCL

void check_nccl(ncclResult_t code, ncclComm_t communicator, const std::string& what) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* last = ncclGetLastError(communicator);
  const std::string words = last == nullptr || *last == '\0' ? "" : std::string("; ") + last;
  throw Error(ErrorKind::environment, what + ": " + ncclGetErrorString(code) + words,
              "set NCCL_DEBUG=INFO in the case's env for details in the rank's log");
}

ncclDataType_t nccl_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64:
      return ncclFloat64;
    case Dtype::f32:
      return ncclFloat32;
    case Dtype::bf16:
      return ncclBfloat16;
    case Dtype::f16:
      return ncclFloat16;
    case Dtype::int32:
      return ncclInt32;
    case Dtype::int64:
      return ncclInt64;
    default:
      throw Error(ErrorKind::input, "NCCL is not measured with " + std::string(to_string(dtype)));
  }
}

#endif

}  // namespace bench

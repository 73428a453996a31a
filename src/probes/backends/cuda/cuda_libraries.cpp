#include "probes/backends/cuda/cuda_libraries.h"

#include <cublasLt.h>

#include "probes/backends/cuda/availability.h"
#include "probes/backends/cuda/nccl_collectives.h"

namespace bench {

std::string cublas_version() {
  const std::size_t version = cublasLtGetVersion();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Json cuda_library_versions() {
  const CudaAnswer answer = ask_cuda();
  Json versions = {{"cuda_runtime", cuda_version_text(answer.runtime_version)},
                   {"cuda_driver", nullptr},
                   {"cublaslt", cublas_version()}};
  const std::string nccl = nccl_version();
  versions["nccl"] = nccl.empty() ? Json(nullptr) : Json(nccl);
  if (answer.driver_version > 0) versions["cuda_driver"] = cuda_version_text(answer.driver_version);
  return versions;
}

}  // namespace bench

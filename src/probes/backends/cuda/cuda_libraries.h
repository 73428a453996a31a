// Which CUDA libraries this program measures with.
#pragma once

#include <string>

#include "core/json.h"

namespace bench {

/// {"cuda_runtime": "13.0", "cuda_driver": "13.0", "cublaslt": "13.1.0"}; null for what is not
/// there.
Json cuda_library_versions();

/// "13.1.0".
std::string cublas_version();

}  // namespace bench

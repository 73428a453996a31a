// Variables that change what NVIDIA's libraries compute, or how fast: facts of a run, as nothing
// else tells a GEMM of true f32 from an emulated one.
#pragma once

#include "core/json.h"

namespace bench {

/// {name: value} of those that are set, of this process or of `environment` ("NAME=value", null at
/// the end). NVIDIA_TF32_OVERRIDE: 0 forbids tf32 to all libraries. Names that begin with CUBLAS:
/// emulation of f32 and f64, such as CUBLAS_EMULATE_SINGLE_PRECISION, and the workspace. Names that
/// begin with CUDNN_. And CUDA_LAUNCH_BLOCKING, CUDA_DEVICE_MAX_CONNECTIONS, CUDA_MODULE_LOADING.
Json library_environment(const char* const* environment = nullptr);

}  // namespace bench

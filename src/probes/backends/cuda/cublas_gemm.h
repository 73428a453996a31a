// Matrix products by cuBLASLt.
#pragma once

#include <memory>

#include "probes/backends/cuda/stream_timer.h"
#include "probes/device/gemm.h"

namespace bench {

/// `timer` and the stream it times outlive the capability and its plans.
std::unique_ptr<Gemm> make_cublas_gemm(int device, cudaStream_t stream, StreamTimer& timer);

}  // namespace bench

// Owned cuBLASLt descriptors, and checks of return codes.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <optional>
#include <string>

#include "core/dtype.h"
#include "core/error.h"
#include "devices/gemm.h"

namespace bench {

/// cuBLASLt's types for a dtype.
struct CublasTypes {
  cudaDataType_t a = CUDA_R_32F;
  cudaDataType_t b = CUDA_R_32F;
  cudaDataType_t c = CUDA_R_32F;      // the result's
  cudaDataType_t scale = CUDA_R_32F;  // of alpha and beta
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  Dtype output = Dtype::f32;
  bool transposed_b = false;    // only supported with contiguous columns of B
  int grain = 1;                // m, n and k must be multiples of this
  int block = 0;                // elements along k per scale; 0: no scales
  std::int32_t scale_mode = 0;  // cublasLtMatmulMatrixScale_t of both factors
};

/// cuBLASLt supports block-scaled matrices from CUDA 12.8 on.
#if CUBLAS_VERSION >= 120800 && CUDART_VERSION >= 12080
#define BENCH_CUBLAS_BLOCK_SCALES
#endif

/// fp8_e5m2 means the mix used in training: A in e4m3, B in e5m2; the library has no product of two
/// e5m2 matrices. f32 is true f32, not tf32.
std::optional<CublasTypes> cublas_types(Dtype dtype);

/// Why the library lacks this product at a compute capability (90 is 9.0); "" if it has it.
/// `toolkit` is the CUDA version of the build: 12080 is 12.8.
std::string cublas_obstacle(const GemmRequest& request, int compute_capability,
                            int toolkit = CUDART_VERSION);

/// A matrix in column-major order, as in cuBLASLt.
struct CublasMatrix {
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t rows = 0, columns = 0, leading = 0;
};

/// The row-major product C = A B is the column-major C' = B' A'. Its first factor is B', or the
/// transpose of B stored by columns.
struct CublasProduct {
  CublasMatrix first, second, result;
  bool transpose_first = false;
};
CublasProduct cublas_product(const GemmShape& shape, const CublasTypes& types, bool transposed_b);

inline void check(cublasStatus_t status, const std::string& what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(ErrorKind::environment,
                what + ": " + cublasLtGetStatusName(status) + " (cuBLASLt)");
}

/// Owned handle of the C interface.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
class CublasHandle {
 public:
  CublasHandle() = default;
  ~CublasHandle() {
    if (handle_ != nullptr) destroy(handle_);
  }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  Handle get() const { return handle_; }
  Handle* out() { return &handle_; }

 private:
  Handle handle_ = nullptr;
};

/// A product: an operation and the layouts of its three matrices.
struct CublasDescription {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
};

/// An owned CublasDescription.
class CublasDescriptors {
 public:
  CublasDescriptors(const CublasProduct& product, const CublasTypes& types, bool fast_accumulation);

  /// Device addresses of the tiled scales (cublas_gemm.h) of the first factor, which is B, and the
  /// second. Internal error for other products.
  void set_scales(const void* first, const void* second);

  CublasDescription get() const {
    return {operation_.get(), first_.get(), second_.get(), result_.get()};
  }
  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  cublasLtMatrixLayout_t first() const { return first_.get(); }
  cublasLtMatrixLayout_t second() const { return second_.get(); }
  cublasLtMatrixLayout_t result() const { return result_.get(); }

 private:
  using Layout = CublasHandle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  static void describe(Layout& layout, const CublasMatrix& matrix);
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value, const char* what) {
    check(cublasLtMatmulDescSetAttribute(operation_.get(), attribute, &value, sizeof value), what);
  }

  CublasHandle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> operation_;
  Layout first_, second_, result_;
  const bool block_scaled_;
};

}  // namespace bench

// cuBLASLt's descriptors, owned, and its return codes, checked.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <optional>
#include <string>

#include "core/dtype.h"
#include "core/error.h"
#include "devices/gemm.h"

namespace bench {

// How a product of each dtype is asked for from cuBLASLt. Pure, so that it is tested without a GPU.

struct CublasTypes {
  cudaDataType_t a = CUDA_R_32F;
  cudaDataType_t b = CUDA_R_32F;
  cudaDataType_t c = CUDA_R_32F;      // the result's
  cudaDataType_t scale = CUDA_R_32F;  // of alpha and beta
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  Dtype output = Dtype::f32;
  bool transposed_b = false;    // the library has this product only with B's columns contiguous
  int grain = 1;                // m, n and k must be multiples of it
  int block = 0;                // elements along k that share a scale; 0: none do
  std::int32_t scale_mode = 0;  // cublasLtMatmulMatrixScale_t of both factors
};

/// cuBLASLt has products of block-scaled matrices from CUDA 12.8 on.
#if CUBLAS_VERSION >= 120800 && CUDART_VERSION >= 12080
#define BENCH_CUBLAS_BLOCK_SCALES
#endif

/// fp8_e5m2 stands for the mix that training uses: A in e4m3, B in e5m2; the library has no product
/// of two e5m2 matrices. f32 is true f32: tf32 must be asked for by name.
std::optional<CublasTypes> cublas_types(Dtype dtype);

/// Why the library has no such product on a chip of this compute capability (90 is 9.0); "" when it
/// has. `toolkit` is the CUDA version of the build: 12080 is 12.8.
std::string cublas_obstacle(const GemmRequest& request, int compute_capability,
                            int toolkit = CUDART_VERSION);

/// One matrix as cuBLASLt, which counts columns first, sees it.
struct CublasMatrix {
  cudaDataType_t type = CUDA_R_32F;
  std::int64_t rows = 0, columns = 0, leading = 0;
};

/// The row-major product C = A B is the column-major C' = B' A'. Its first factor is B', or the
/// transpose of what holds B's columns one after another.
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

/// A handle of the C interface with its destructor.
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

/// A product in the library's words: an operation and the layouts of its three matrices.
struct CublasDescription {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
};

/// One that is owned.
class CublasDescriptors {
 public:
  CublasDescriptors(const CublasProduct& product, const CublasTypes& types, bool fast_accumulation);

  /// Where the scales of block-scaled factors lie on the GPU, in tiles (cublas_block_scales.h): of
  /// the library's first factor, which is B, and of its second. For other products an internal
  /// error.
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

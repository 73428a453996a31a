// cuBLASLt's descriptors, owned, and its return codes, checked.
#pragma once

#include <cublasLt.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "probes/backends/cuda/cublas_types.h"

namespace bench {

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

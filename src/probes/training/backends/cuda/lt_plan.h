// One GEMM shape in cuBLASLt: its descriptors and candidate algorithms.
#pragma once

#include <cublasLt.h>

#include <vector>

#include "probes/backends/cuda/cublas_descriptors.h"
#include "probes/training/backends/cuda/lt_layout.h"

namespace bench::training {

/// What a call of a plan works on.
struct LtCall {
  cublasLtHandle_t handle = nullptr;
  const void *first = nullptr, *second = nullptr, *addend = nullptr, *bias = nullptr;
  void *result = nullptr, *gelu_input = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
  bool as_proposed = false;  // by the library's first proposal, whichever was the fastest
};

class LtPlan {
 public:
  /// f32 (in true f32), or bf16 or f16 with sums in f32.
  explicit LtPlan(const LtLayout& layout);

  const LtLayout& layout() const { return layout_; }
  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  /// What the library proposes, best first. Throws Error(environment) where it has nothing.
  void propose(cublasLtHandle_t handle, std::size_t workspace_bytes, int wanted);
  std::size_t candidates() const { return algorithms_.size(); }
  void choose(std::size_t which) { chosen_ = which; }
  bool tuned = false;

  void run(const LtCall& call);

 private:
  using Layout = CublasHandle<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value, const char* what) {
    check(cublasLtMatmulDescSetAttribute(operation_.get(), attribute, &value, sizeof value), what);
  }

  LtLayout layout_;
  CublasHandle<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> operation_;
  Layout first_, second_, result_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_ = {};
  std::size_t chosen_ = 0;
};

}  // namespace bench::training

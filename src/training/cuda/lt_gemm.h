// GEMMs by cuBLASLt, with one plan per shape for all lanes.
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "devices/cuda/cublas_descriptors.h"
#include "training/cuda/device_context.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

struct LtMatrix {
  std::int64_t rows = 0, columns = 0;  // column-major in memory; leading dimension = rows
  bool transpose = false;
  bool operator==(const LtMatrix&) const = default;
};

/// A row-major GEMM for cuBLASLt, which is column-major: C = A B is C' = B' A'.
struct LtLayout {
  LtMatrix first, second, result;
  bool addend = false;  // C and beta = 1
  bool in_place = false;
  bool bias = false;  // along the result's rows
  GeluStep gelu = GeluStep::none;
  Dtype dtype = Dtype::f32;
  bool operator==(const LtLayout&) const = default;
};

inline LtLayout lt_layout(const GemmOptions& product, View a, View b, View c) {
  LtLayout layout;
  layout.first = {b.columns, b.rows, product.transpose_b};
  layout.second = {a.columns, a.rows, product.transpose_a};
  layout.result = {c.columns, c.rows, false};
  layout.addend = static_cast<bool>(product.addend);
  layout.in_place = layout.addend && product.addend.data == c.data;
  layout.bias = static_cast<bool>(product.bias);
  layout.gelu = product.gelu;
  layout.dtype = c.dtype;
  return layout;
}

/// The arguments of a plan's run().
struct LtCall {
  cublasLtHandle_t handle = nullptr;
  const void *first = nullptr, *second = nullptr, *addend = nullptr, *bias = nullptr;
  void *result = nullptr, *gelu_input = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
  bool as_proposed = false;  // use the library's first proposal instead of the fastest
};

/// One GEMM shape in cuBLASLt: its descriptors and candidate algorithms.
class LtPlan {
 public:
  /// f32 (in true f32), or bf16 or f16 with sums in f32.
  explicit LtPlan(const LtLayout& layout);

  const LtLayout& layout() const { return layout_; }
  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  /// Gets the library's proposals, best first. Throws Error(environment) if it has none.
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

class LtGemmPlans {
 public:
  explicit LtGemmPlans(std::shared_ptr<DeviceContext> context);
  /// Deterministic: algorithms are not chosen by timing, so that every run uses the same ones.
  void begin(bool deterministic) { deterministic_ = deterministic; }
  void multiply(const GemmOptions& product, View a, View b, View c);
  /// Fuses GELU in 16-bit types if rows of the result are multiples of 16 bytes and the library has
  /// an algorithm.
  bool fuses(const GemmOptions& product, View a, View b, View c);

 private:
  /// Returns the plan; creates it on first use and, if possible, times the proposed algorithms.
  LtPlan& plan_of(const LtLayout& layout);
  void tune(LtPlan& plan, LtCall call, std::int64_t result_bytes);

  std::shared_ptr<DeviceContext> context_;
  CublasHandle<cublasLtHandle_t, cublasLtDestroy> handle_;
  DeviceMemory workspace_;
  bool deterministic_ = false;
  std::vector<std::unique_ptr<LtPlan>> plans_ = {};
  std::vector<LtLayout> refused_ = {};  // the library has no algorithm for these
};

class LtGemm final : public GemmKernels {
 public:
  explicit LtGemm(std::shared_ptr<LtGemmPlans> gemms) : gemms_(std::move(gemms)) {}
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    gemms_->multiply(product, a, b, c);
  }
  bool fuses(const GemmOptions& product, View a, View b, View c) override {
    return gemms_->fuses(product, a, b, c);
  }

 private:
  std::shared_ptr<LtGemmPlans> gemms_;
};

}  // namespace bench::training

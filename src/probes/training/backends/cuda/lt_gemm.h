// Products by cuBLASLt, a plan for each shape that occurs, made once for all lanes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "probes/training/backends/cuda/device_context.h"
#include "probes/training/backends/cuda/lt_plan.h"
#include "probes/training/kernels/gemm.h"

namespace bench::training {

class LtGemmPlans {
 public:
  explicit LtGemmPlans(std::shared_ptr<DeviceContext> context);
  /// Deterministic: algorithms are not chosen by timing, so that every run uses the same ones.
  void begin(bool deterministic) { deterministic_ = deterministic; }
  void multiply(const GemmOptions& product, View a, View b, View c);
  /// GELU of types of two bytes, where rows of the result are multiples of 16 bytes and the library
  /// proposes something.
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

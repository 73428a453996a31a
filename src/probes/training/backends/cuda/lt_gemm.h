// Products by cuBLASLt, a plan for each shape that occurs, made once for all lanes.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "probes/training/backends/cuda/device_context.h"
#include "probes/training/backends/cuda/lt_plan.h"
#include "probes/training/kernels/gemm.h"

namespace bench::training {

class LtProducts {
 public:
  explicit LtProducts(std::shared_ptr<DeviceContext> context);
  /// Deterministic: no algorithm is chosen by timing it, so that another run takes the same one.
  void begin(bool deterministic) { deterministic_ = deterministic; }
  void multiply(const GemmOptions& product, View a, View b, View c);
  /// GELU of types of two bytes, where rows of the result are multiples of 16 bytes and the library
  /// proposes something.
  bool fuses(const GemmOptions& product, View a, View b, View c);

 private:
  /// Finds the plan; the first time makes it, and tries what is proposed where that is possible.
  LtPlan& plan_of(const LtLayout& layout);
  void tune(LtPlan& plan, LtCall call, std::int64_t result_bytes);

  std::shared_ptr<DeviceContext> context_;
  CublasHandle<cublasLtHandle_t, cublasLtDestroy> handle_;
  DeviceMemory workspace_;
  bool deterministic_ = false;
  std::vector<std::unique_ptr<LtPlan>> plans_ = {};
  std::vector<LtLayout> refused_ = {};  // nothing is proposed for them
};

class LtGemm final : public GemmKernels {
 public:
  explicit LtGemm(std::shared_ptr<LtProducts> products) : products_(std::move(products)) {}
  void multiply(const GemmOptions& product, View a, View b, View c) override {
    products_->multiply(product, a, b, c);
  }
  bool fuses(const GemmOptions& product, View a, View b, View c) override {
    return products_->fuses(product, a, b, c);
  }

 private:
  std::shared_ptr<LtProducts> products_;
};

}  // namespace bench::training

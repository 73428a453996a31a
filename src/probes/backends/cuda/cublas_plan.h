// One product by cuBLASLt: its matrices on the GPU, its descriptors, and the algorithm in use.
#pragma once

#include <vector>

#include "probes/backends/cuda/cublas_descriptors.h"
#include "probes/backends/cuda/cublas_scalar.h"
#include "probes/backends/cuda/cuda_memory_blocks.h"
#include "probes/backends/cuda/stream_timer.h"
#include "probes/device/gemm.h"

namespace bench {

/// What all products of a device share; outlives them.
struct CublasContext {
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  cudaStream_t stream = nullptr;
  StreamTimer* timer = nullptr;
};

class CublasPlan final : public GemmPlan {
 public:
  CublasPlan(const GemmRequest& request, const CublasTypes& types, const CublasContext& context);

  /// Whether the library has an algorithm for it.
  bool found() const { return !algorithms_.empty(); }

  std::string library() const override { return "cublaslt"; }
  std::string version() const override;
  std::string implementation() const override;
  std::string isa() const override { return ""; }
  bool packed() const override { return transposed_b_; }
  Dtype output() const override { return types_.output; }

  void load(std::span<const std::byte> a, std::span<const std::byte> b) override;
  void tune() override;
  void clear() override;
  void run(std::int64_t calls) override;
  std::vector<std::byte> result() const override;
  std::optional<Hertz> clock() override { return context_.timer->clock(); }

 private:
  double seconds_of_chosen();

  const GemmShape shape_;
  const CublasTypes types_;
  const bool transposed_b_;
  const CublasDescriptors descriptors_;
  const CublasContext context_;
  const CublasScalar alpha_, beta_;
  const std::size_t element_bytes_;
  DeviceMemory a_, b_, c_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  std::size_t chosen_ = 0;
};

}  // namespace bench

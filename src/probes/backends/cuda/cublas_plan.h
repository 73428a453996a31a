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
  void scale(const BlockScales& scales) override;
  void tune() override;
  void clear() override;
  void run(std::int64_t calls) override;
  std::vector<std::byte> result() const override;
  std::optional<Hertz> clock() override { return context_.timer->clock(); }

 private:
  double seconds_of_chosen();
  /// Bytes on the GPU of so many elements of A or B.
  std::size_t stored_bytes(std::size_t elements) const;
  void store(const DeviceMemory& to, std::span<const std::byte> elements) const;
  std::size_t blocks_in_line() const;
  /// Gives every set what the first one holds.
  void spread(const DeviceMemory& matrices, std::size_t stride) const;

  const GemmShape shape_;
  const CublasTypes types_;
  const bool transposed_b_;
  CublasDescriptors descriptors_;
  const CublasContext context_;
  CublasScalar alpha_;
  const CublasScalar beta_;
  const std::size_t element_bytes_;  // on the host
  const bool halves_;                // two elements a byte on the GPU
  /// Bytes from a matrix of one set to that of the next.
  struct Strides {
    std::size_t a = 0, b = 0, c = 0;
  };
  const Strides strides_;
  const std::size_t result_bytes_;
  const std::size_t sets_;            // of equal matrices, which calls go through in turn
  std::size_t set_ = 0;               // of the last call
  DeviceMemory a_, b_, c_;            // of all sets
  DeviceMemory a_scales_, b_scales_;  // of block-scaled products
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
  std::size_t chosen_ = 0;
};

}  // namespace bench

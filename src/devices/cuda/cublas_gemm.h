// Matrix products by cuBLASLt.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "devices/cuda/cublas_descriptors.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/stream_timer.h"
#include "devices/gemm.h"

namespace bench {

// How cuBLASLt wants block-scaled matrices in memory: two nvfp4 elements a byte, and scales in
// tiles. Pure, so that it is tested without a GPU.

/// Elements of four bits, one a byte, as two a byte: the first in the lower half.
std::vector<std::byte> packed_halves(std::span<const std::byte> elements);

/// Scales lie in tiles of 128 lines x 4 blocks, 512 bytes one after another, the tiles row by row;
/// inside a tile four lines that are 32 apart lie side by side ("1D block scaling factors layout"
/// of cuBLAS' documentation):
///   offset = 512 tile + 16 (line % 32) + 4 (line % 128 / 32) + block % 4
std::size_t scale_offset(std::size_t line, std::size_t block, std::size_t blocks_in_line);
/// Bytes of all tiles, the last ones padded.
std::size_t scale_bytes(std::size_t lines, std::size_t blocks_in_line);

/// The scale of `block` in `line` is scales[line * line_stride + block * block_stride]; padding is
/// 0.
std::vector<std::byte> tiled_scales(std::span<const std::byte> scales, std::size_t lines,
                                    std::size_t blocks_in_line, std::size_t line_stride,
                                    std::size_t block_stride);

// The transpose of a dense row-major matrix of any element size, on the host.

/// `matrix` has rows x columns elements of `element_bytes`; the result columns x rows.
std::vector<std::byte> transposed(std::span<const std::byte> matrix, std::int64_t rows,
                                  std::int64_t columns, std::size_t element_bytes);

// A scalar in the type that a product's alpha and beta have.

class CublasScalar {
 public:
  CublasScalar(cudaDataType_t type, double value) {
    if (type == CUDA_R_64F)
      put(value);
    else if (type == CUDA_R_32I)
      put(static_cast<std::int32_t>(value));
    else
      put(static_cast<float>(value));
  }
  /// For the host's pointer mode, which is cuBLASLt's own.
  const void* data() const { return bytes_.data(); }

 private:
  template <class T>
  void put(T value) {
    std::memcpy(bytes_.data(), &value, sizeof value);
  }
  alignas(8) std::array<std::byte, 8> bytes_{};
};

// One product by cuBLASLt: its matrices on the GPU, its descriptors, and the algorithm in use.

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

/// `timer` and the stream it times outlive the capability and its plans.
std::unique_ptr<Gemm> make_cublas_gemm(int device, cudaStream_t stream, StreamTimer& timer);

}  // namespace bench

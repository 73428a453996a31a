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
#include "devices/cuda/stream_timer.h"
#include "devices/gemm.h"

namespace bench {

// The memory layout of block-scaled matrices for cuBLASLt. Pure, so that it is tested without a
// GPU.

/// Packs 4-bit elements, given one per byte, two per byte: the first in the lower half.
std::vector<std::byte> packed_halves(std::span<const std::byte> elements);

/// Scales are stored in tiles of 128 lines x 4 blocks, 512 bytes each, row by row; within a tile,
/// four lines 32 apart are adjacent ("1D block scaling factors layout" in the cuBLAS
/// documentation):
///   offset = 512 tile + 16 (line % 32) + 4 (line % 128 / 32) + block % 4
std::size_t scale_offset(std::size_t line, std::size_t block, std::size_t blocks_in_line);
/// Bytes of all tiles, the last ones padded.
std::size_t scale_bytes(std::size_t lines, std::size_t blocks_in_line);

/// The scale of `block` in `line` is scales[line * line_stride + block * block_stride]; padding is
/// 0.
std::vector<std::byte> tiled_scales(std::span<const std::byte> scales, std::size_t lines,
                                    std::size_t blocks_in_line, std::size_t line_stride,
                                    std::size_t block_stride);

/// Transposes a dense row-major matrix on the host. `matrix` has rows x columns elements of
/// `element_bytes`; the result columns x rows.
std::vector<std::byte> transposed(std::span<const std::byte> matrix, std::int64_t rows,
                                  std::int64_t columns, std::size_t element_bytes);

/// A scalar of the type of a product's alpha and beta.
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
  /// For host pointer mode, the default of cuBLASLt.
  const void* data() const { return bytes_.data(); }

 private:
  template <class T>
  void put(T value) {
    std::memcpy(bytes_.data(), &value, sizeof value);
  }
  alignas(8) std::array<std::byte, 8> bytes_{};
};

/// `timer` and its stream must outlive the capability and its plans.
std::unique_ptr<Gemm> make_cublas_gemm(int device, cudaStream_t stream, StreamTimer& timer);

}  // namespace bench

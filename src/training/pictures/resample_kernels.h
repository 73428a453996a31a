// The resizing loops for different instruction sets. All give the same bits, because none fuses a
// multiplication with an addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::training {

inline constexpr std::size_t kPixelLanes = 4;  // bytes, and numbers, of a pixel

struct ResampleKernels {
  /// Bytes to floats.
  void (*widen)(const std::uint8_t* from, std::size_t count, float* to);
  /// Output i, four floats, is the sum over taps of pixel first[i] + tap times its weight. Outputs
  /// are computed in pairs, so their number is even: weights are ordered by pair and tap, four
  /// times for the first of the pair, then four times for the second.
  void (*along)(const float* row, std::span<const int> first, std::size_t taps,
                const float* weights, float* to);
  /// The weighted sum of the rows, rounded to bytes; the sums must be between 0 and 255.
  void (*down)(std::span<const float* const> rows, const float* weights, std::size_t count,
               std::uint8_t* to);
  /// The first three bytes of each pixel to three consecutive planes, each as value * scale + shift
  /// of the plane.
  void (*planes)(const std::uint8_t* pixels, std::size_t count, const float* scales,
                 const float* shifts, float* to);
};

/// The fastest that this processor supports.
const ResampleKernels& resample_kernels();
const ResampleKernels& resample_kernels_base();
/// Null if the build or the processor does not support them.
const ResampleKernels* resample_kernels_avx2();

}  // namespace bench::training

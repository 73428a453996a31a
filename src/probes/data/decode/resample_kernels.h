// The loops of resizing, for the instructions that a processor has. All kinds give the same bits:
// none fuses a multiplication with an addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::data {

inline constexpr std::size_t kPixelLanes = 4;  // bytes, and numbers, of a pixel

struct ResampleKernels {
  /// Bytes as numbers.
  void (*widen)(const std::uint8_t* from, std::size_t count, float* to);
  /// Output i, four numbers, is the sum over taps of the pixel first[i] + tap by its weight.
  /// Outputs are made in pairs, and are even in number: weights stand by pair and tap, four times
  /// for the first of the pair, then four times for the second.
  void (*along)(const float* row, std::span<const int> first, std::size_t taps,
                const float* weights, float* to);
  /// The sum over rows, as many as weights, rounded to bytes; 0 to 255 it must be.
  void (*down)(std::span<const float* const> rows, const float* weights, std::size_t count,
               std::uint8_t* to);
  /// The first three bytes of each pixel, each value * scale + shift of its own, to three planes,
  /// one after another.
  void (*planes)(const std::uint8_t* pixels, std::size_t count, const float* scales,
                 const float* shifts, float* to);
};

/// The fastest that this processor can run.
const ResampleKernels& resample_kernels();
const ResampleKernels& resample_kernels_base();
/// Null where the build or the processor has none.
const ResampleKernels* resample_kernels_avx2();

}  // namespace bench::data

// mxfp8 and nvfp4: small elements with a shared scale per block along a line.
//   mxfp8  e4m3, blocks of 32, scale 2^(byte - 127) (ue8m0): OCP Microscaling Formats 1.0
//   nvfp4  e2m1, blocks of 16, scale an unsigned e4m3 (ue4m3), and one f32 for the whole matrix
// A value is element x scale x tensor scale; the latter is 1 for mxfp8.
#pragma once

#include <cstddef>
#include <span>

#include "core/dtype.h"

namespace bench {

/// Elements per block; 0 for types without scales.
constexpr std::size_t block_of(Dtype dtype) {
  return dtype == Dtype::mxfp8 ? 32 : dtype == Dtype::nvfp4 ? 16 : 0;
}

std::byte encode_scale(Dtype dtype, double scale);
/// NaN for 255 in ue8m0 and 127 in ue4m3.
double decode_scale(Dtype dtype, std::byte scale);

/// The tensor scale that maps `largest` to the largest nvfp4 value: largest / (6 x 448). 1 for
/// mxfp8.
double tensor_scale(Dtype dtype, double largest);

/// Quantises a line of whole blocks. The scale of a block is the power of two that brings its
/// largest value to the highest exponent of e4m3 (mxfp8: values above 448 saturate, as in the
/// standard), or that value over 6 (nvfp4). `elements` has one byte per value, `scales` one per
/// block.
void quantise(Dtype dtype, std::span<const double> line, double tensor,
              std::span<std::byte> elements, std::span<std::byte> scales);

}  // namespace bench

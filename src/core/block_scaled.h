// mxfp8 and nvfp4: elements of few bits of which each block along a line shares a scale.
//   mxfp8  e4m3, blocks of 32, scale 2^(byte - 127) (ue8m0): OCP Microscaling Formats 1.0
//   nvfp4  e2m1, blocks of 16, scale an e4m3 without sign (ue4m3), and one f32 for the whole matrix
// An element's value is element x scale x tensor scale; the last is 1 for mxfp8.
#pragma once

#include <cstddef>
#include <span>

#include "core/dtype.h"

namespace bench {

/// Elements of one block; 0 for types without scales.
constexpr std::size_t block_of(Dtype dtype) {
  return dtype == Dtype::mxfp8 ? 32 : dtype == Dtype::nvfp4 ? 16 : 0;
}

std::byte encode_scale(Dtype dtype, double scale);
/// NaN for ue8m0's 255 and ue4m3's 127.
double decode_scale(Dtype dtype, std::byte scale);

/// The tensor scale with which values up to `largest` use the whole range of nvfp4: largest /
/// (6 x 448). 1 for mxfp8.
double tensor_scale(Dtype dtype, double largest);

/// Rounds one line of whole blocks. A block's scale is the power of two that brings its largest
/// value next to e4m3's highest exponent (mxfp8: values past 448 then become 448, as the standard
/// has it), or that value over 6 (nvfp4). `elements` has a byte for each value, `scales` one for
/// each block.
void quantise(Dtype dtype, std::span<const double> line, double tensor,
              std::span<std::byte> elements, std::span<std::byte> scales);

}  // namespace bench

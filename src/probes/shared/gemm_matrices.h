// The matrices for measuring and verifying GEMMs.
#pragma once

#include <cstdint>
#include <vector>

#include "devices/gemm.h"

namespace bench {

enum class MatrixValues {
  random,    // standard normal; int8: all values that cannot overflow
  integers,  // small, exact
  zeros      // to measure the power cost of switching bits; never a headline
};

struct Matrices {
  GemmShape shape;
  Dtype dtype = Dtype::f32;
  MatrixValues values = MatrixValues::random;
  std::vector<std::byte> a;  // as GemmPlan::load takes them
  std::vector<std::byte> b;
  BlockScales scales;  // of mxfp8 and nvfp4
};

/// fp8_e5m2 means the mix that training uses: A in e4m3, B in e5m2.
constexpr Dtype dtype_of_a(Dtype dtype) {
  return dtype == Dtype::fp8_e5m2 ? Dtype::fp8_e4m3 : dtype;
}
constexpr Dtype dtype_of_b(Dtype dtype) { return dtype; }

/// The same seed gives the same matrices. Block-scaled ones are quantised random values; k must be
/// a multiple of the block.
Matrices make_matrices(const GemmShape& shape, Dtype dtype, MatrixValues values,
                       std::uint64_t seed);

/// Loads the matrices and their scales into the plan.
void load(GemmPlan& plan, const Matrices& matrices);

}  // namespace bench

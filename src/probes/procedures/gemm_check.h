// Matrices for products, and three ways to find that a product is wrong:
//   exact      integers small enough that every partial sum is exact in any order: bit for bit
//   Freivalds  C r against A (B r) for a random vector r, in f64: order n^2, a stated tolerance
//   repeat     the same product again must give the same bits
// The first finds any wrong bit but needs its own data; the second looks at the data that was
// timed; the third finds what comes and goes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/record.h"
#include "probes/device/gemm.h"

namespace bench {

enum class MatrixValues {
  random,   // standard normal; int8: all values that cannot overflow
  integers  // small, exact
};

struct Matrices {
  GemmShape shape;
  Dtype dtype = Dtype::f32;
  MatrixValues values = MatrixValues::random;
  std::vector<std::byte> a;  // as GemmPlan::load takes them
  std::vector<std::byte> b;
};

/// fp8_e5m2 means the mix that training uses: A in e4m3, B in e5m2.
constexpr Dtype dtype_of_a(Dtype dtype) {
  return dtype == Dtype::fp8_e5m2 ? Dtype::fp8_e4m3 : dtype;
}
constexpr Dtype dtype_of_b(Dtype dtype) { return dtype; }

/// The same seed gives the same matrices, whatever else is made.
Matrices make_matrices(const GemmShape& shape, Dtype dtype, MatrixValues values,
                       std::uint64_t seed);

/// Error: largest distance of an element from the product of integer matrices. Every element takes
/// part through C r = A (B r), unless C is bf16 or f16 and rounds them; small products are compared
/// element by element too, large ones at 256 places.
Check check_exact(const Matrices& matrices, Dtype output, std::span<const std::byte> c);

/// Error: the largest |C r - A (B r)| of a row as a multiple of 16 times what rounding may cause;
/// tolerance 1. A C of bf16 or f16 is looked at in blocks of 1024 columns.
Check check_freivalds(const Matrices& matrices, Dtype output, std::span<const std::byte> c,
                      std::uint64_t seed);

/// exact for integers (int8 always is), Freivalds otherwise.
Check check_product(const Matrices& matrices, Dtype output, std::span<const std::byte> c);

/// A 64-bit hash of all bytes: another bit, another hash.
std::uint64_t hash_of(std::span<const std::byte> bytes);

}  // namespace bench

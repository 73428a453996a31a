// Three ways to find a wrong product:
//   exact      integers small enough that every partial sum is exact in any order: bit for bit
//   Freivalds  C r against A (B r) for a random vector r, in f64: order n^2, a stated tolerance
//   repeat     the same product again must give the same bits
// The first finds any wrong bit but needs its own data; the second checks the data that was timed;
// the third finds intermittent faults.
#pragma once

#include <cstdint>
#include <span>

#include "core/record.h"
#include "probes/shared/gemm_matrices.h"

namespace bench {

/// Error: largest distance of an element from the product of integer matrices. Every element takes
/// part through C r = A (B r), unless C is bf16 or f16 and rounds them; small products are compared
/// element by element too, large ones at 256 places.
Check check_exact(const Matrices& matrices, Dtype output, std::span<const std::byte> c);

/// Error: the largest |C r - A (B r)| of a row as a multiple of 16 times what rounding may cause;
/// tolerance 1. A C of bf16 or f16 is looked at in blocks of 1024 columns.
Check check_freivalds(const Matrices& matrices, Dtype output, std::span<const std::byte> c,
                      std::uint64_t seed);

/// Zeros for zeros, exact for integers (int8 always is), Freivalds otherwise.
Check check_product(const Matrices& matrices, Dtype output, std::span<const std::byte> c);

/// A 64-bit hash of all bytes; a single changed bit always changes it.
std::uint64_t hash_of(std::span<const std::byte> bytes);

/// Whether two results are the same in every bit, on all processors.
bool equal_bytes(std::span<const std::byte> one, std::span<const std::byte> other);

}  // namespace bench

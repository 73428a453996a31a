#include "probes/procedures/gemm_matrices.h"

#include <array>

#include "core/elements.h"

namespace bench {
namespace {

double draw(Dtype dtype, MatrixValues values, bool first, std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t bits = random_bits(seed, i);
  const auto from = [&](int least, std::uint64_t count) {
    return least + static_cast<double>(bits % count);
  };
  // Two products fit 16 bits, which some instructions add them in.
  if (dtype == Dtype::int8) return first ? from(0, 128) : from(-127, 255);
  if (values == MatrixValues::random) return random_normal(seed, i);
  // Sums of fp8 products must be exact in 14 bits: -2, -1, 1, 2. Others: 64 k < 2^24 for every k
  // we allow.
  constexpr std::array kFew{-2.0, -1.0, 1.0, 2.0};
  if (dtype == Dtype::fp8_e4m3 || dtype == Dtype::fp8_e5m2) return kFew[bits % kFew.size()];
  return from(-8, 17);
}

}  // namespace

Matrices make_matrices(const GemmShape& shape, Dtype dtype, MatrixValues values,
                       std::uint64_t seed) {
  const auto fill = [&](std::int64_t rows, std::int64_t columns, bool first) {
    const Dtype type = first ? dtype_of_a(dtype) : dtype_of_b(dtype);
    const std::size_t size = size_of(type);
    const std::uint64_t own_seed = random_bits(seed, first ? 0 : 1);
    std::vector<std::byte> bytes(static_cast<std::size_t>(rows * columns) * size);
    if (values == MatrixValues::zeros) return bytes;  // zero has no other bits in any type
    for (std::size_t i = 0; i < bytes.size() / size; ++i)
      encode(bytes.data() + i * size, type, draw(dtype, values, first, own_seed, i));
    return bytes;
  };
  Matrices matrices{shape, dtype, values, {}, {}};
  matrices.a = fill(shape.m, shape.k, true);
  matrices.b = fill(shape.k, shape.n, false);
  return matrices;
}

}  // namespace bench

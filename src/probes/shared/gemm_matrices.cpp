#include "probes/shared/gemm_matrices.h"

#include <array>

#include "core/block_scaled.h"
#include "core/elements.h"

namespace bench {
namespace {

double draw(Dtype dtype, MatrixValues values, bool first, std::uint64_t seed, std::uint64_t i) {
  const std::uint64_t bits = random_bits(seed, i);
  const auto from = [&](int least, std::uint64_t count) {
    return least + static_cast<double>(bits % count);
  };
  // Two products fit in 16 bits, as some instructions add them.
  if (dtype == Dtype::int8) return first ? from(0, 128) : from(-127, 255);
  if (values == MatrixValues::random) return random_normal(seed, i);
  // Sums of fp8 products must be exact in 14 bits: -2, -1, 1, 2. Others: 64 k < 2^24 for every k
  // we allow.
  constexpr std::array kFew{-2.0, -1.0, 1.0, 2.0};
  const bool few = dtype == Dtype::fp8_e4m3 || dtype == Dtype::fp8_e5m2 || block_of(dtype) > 0;
  if (few) return kFew[bits % kFew.size()];
  return from(-8, 17);
}

/// A matrix quantised along k: rows of A, columns of B.
struct BlockScaled {
  std::vector<std::byte> elements, scales;
};

constexpr double kLargestNormal = 3.5;  // of random_normal

/// Of one line: quantised normal values, or small integers with scales of 1 and 2.
class LineMaker {
 public:
  LineMaker(Dtype dtype, MatrixValues values, std::size_t k, std::uint64_t seed)
      : elements(k),
        scales(k / block_of(dtype), encode_scale(dtype, 1.0)),
        dtype_(dtype),
        values_(values),
        seed_(seed),
        line_(k) {}

  std::vector<std::byte> elements, scales;  // of the last line

  void make(std::size_t line) {
    if (values_ == MatrixValues::zeros) return;  // elements are zero, scales one
    for (std::size_t i = 0; i < line_.size(); ++i)
      line_[i] = draw(dtype_, values_, true, seed_, line * line_.size() + i);
    if (values_ == MatrixValues::random)
      return quantise(dtype_, line_, tensor_scale(dtype_, kLargestNormal), elements, scales);
    for (std::size_t i = 0; i < line_.size(); ++i) encode(&elements[i], dtype_, line_[i]);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const std::uint64_t bits = random_bits(~seed_, line * scales.size() + i);
      scales[i] = encode_scale(dtype_, bits % 2 == 0 ? 1.0 : 2.0);
    }
  }

 private:
  Dtype dtype_;
  MatrixValues values_;
  std::uint64_t seed_;
  std::vector<double> line_;
};

BlockScaled scaled_rows(LineMaker maker, std::size_t rows) {
  BlockScaled made;
  for (std::size_t row = 0; row < rows; ++row) {
    maker.make(row);
    made.elements.insert(made.elements.end(), maker.elements.begin(), maker.elements.end());
    made.scales.insert(made.scales.end(), maker.scales.begin(), maker.scales.end());
  }
  return made;
}

BlockScaled scaled_columns(LineMaker maker, std::size_t columns) {
  BlockScaled made{std::vector<std::byte>(maker.elements.size() * columns),
                   std::vector<std::byte>(maker.scales.size() * columns)};
  for (std::size_t column = 0; column < columns; ++column) {
    maker.make(column);
    for (std::size_t i = 0; i < maker.elements.size(); ++i)
      made.elements[i * columns + column] = maker.elements[i];
    for (std::size_t i = 0; i < maker.scales.size(); ++i)
      made.scales[i * columns + column] = maker.scales[i];
  }
  return made;
}

Matrices make_block_scaled(const GemmShape& shape, Dtype dtype, MatrixValues values,
                           std::uint64_t seed) {
  const auto k = static_cast<std::size_t>(shape.k);
  BlockScaled a =
      scaled_rows({dtype, values, k, random_bits(seed, 0)}, static_cast<std::size_t>(shape.m));
  BlockScaled b =
      scaled_columns({dtype, values, k, random_bits(seed, 1)}, static_cast<std::size_t>(shape.n));
  const double tensor = values == MatrixValues::random ? tensor_scale(dtype, kLargestNormal) : 1.0;
  return {shape,
          dtype,
          values,
          std::move(a.elements),
          std::move(b.elements),
          {std::move(a.scales), std::move(b.scales), static_cast<float>(tensor * tensor)}};
}

}  // namespace

Matrices make_matrices(const GemmShape& shape, Dtype dtype, MatrixValues values,
                       std::uint64_t seed) {
  if (block_of(dtype) > 0) return make_block_scaled(shape, dtype, values, seed);
  const auto fill = [&](std::int64_t rows, std::int64_t columns, bool first) {
    const Dtype type = first ? dtype_of_a(dtype) : dtype_of_b(dtype);
    const std::size_t size = size_of(type);
    const std::uint64_t own_seed = random_bits(seed, first ? 0 : 1);
    std::vector<std::byte> bytes(static_cast<std::size_t>(rows * columns) * size);
    if (values == MatrixValues::zeros) return bytes;  // zero is all bits 0 in every type
    for (std::size_t i = 0; i < bytes.size() / size; ++i)
      encode(bytes.data() + i * size, type, draw(dtype, values, first, own_seed, i));
    return bytes;
  };
  Matrices matrices{shape, dtype, values, {}, {}, {}};
  matrices.a = fill(shape.m, shape.k, true);
  matrices.b = fill(shape.k, shape.n, false);
  return matrices;
}

void load(GemmPlan& plan, const Matrices& matrices) {
  plan.load(matrices.a, matrices.b);
  if (block_of(matrices.dtype) > 0) plan.scale(matrices.scales);
}

}  // namespace bench

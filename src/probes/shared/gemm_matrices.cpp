#include "probes/shared/gemm_matrices.h"

#include <algorithm>
#include <array>

#include "core/block_scaled.h"
#include "core/elements.h"
#include "core/parallel.h"

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

/// Elements in a part of a matrix that one thread makes: a millisecond's work.
constexpr std::size_t kLeastElements = std::size_t{1} << 16;

std::size_t least_lines(std::size_t elements_a_line) {
  return kLeastElements / std::max<std::size_t>(1, elements_a_line) + 1;
}

/// `line_maker` makes the lines; element i of line l is stored at l * line + i * step.
struct Strides {
  std::size_t line = 0, step = 0;
};

BlockScaled scaled_lines(const LineMaker& line_maker, std::size_t lines, const Strides& elements,
                         const Strides& scales) {
  BlockScaled made{std::vector<std::byte>(line_maker.elements.size() * lines),
                   std::vector<std::byte>(line_maker.scales.size() * lines)};
  const auto put = [](const std::vector<std::byte>& from, std::byte* to, std::size_t step) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i * step] = from[i];
  };
  in_parts(lines, least_lines(line_maker.elements.size()),
           [&](std::size_t first, std::size_t last) {
             LineMaker maker = line_maker;
             for (std::size_t line = first; line < last; ++line) {
               maker.make(line);
               put(maker.elements, made.elements.data() + line * elements.line, elements.step);
               put(maker.scales, made.scales.data() + line * scales.line, scales.step);
             }
           });
  return made;
}

BlockScaled scaled_rows(const LineMaker& maker, std::size_t rows) {
  return scaled_lines(maker, rows, {maker.elements.size(), 1}, {maker.scales.size(), 1});
}

BlockScaled scaled_columns(const LineMaker& maker, std::size_t columns) {
  return scaled_lines(maker, columns, {1, columns}, {1, columns});
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
    in_parts(bytes.size() / size, kLeastElements, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        encode(bytes.data() + i * size, type, draw(dtype, values, first, own_seed, i));
    });
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

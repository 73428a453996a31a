#include "probes/shared/gemm_check.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <vector>

#include "core/block_scaled.h"
#include "core/elements.h"
#include "core/parallel.h"

namespace bench {
namespace {

/// The scales of a block-scaled matrix: one for `tall` x `wide` of its elements.
struct RowScales {
  std::span<const std::byte> bytes;
  std::size_t tall = 1, wide = 1;
  double tensor = 1.0;
};

/// A matrix of any dtype, read as f64 row by row: converted whole, fp8 would take eight times the
/// memory.
class MatrixRows {
 public:
  MatrixRows(std::span<const std::byte> bytes, Dtype dtype, std::size_t columns,
             bool is_unsigned = false, const RowScales& scales = {})
      : bytes_(bytes),
        dtype_(dtype),
        columns_(columns),
        unsigned_(is_unsigned),
        scales_(scales),
        row_(columns) {}

  std::size_t columns() const { return columns_; }
  std::size_t count() const { return bytes_.size() / (columns_ * size_of(dtype_)); }
  std::span<const double> row(std::size_t i) { return part_of_row(i, 0, columns_); }
  /// The columns [first, first + count). Valid until the next call.
  std::span<const double> part_of_row(std::size_t i, std::size_t first, std::size_t count) {
    const std::span<double> part = std::span(row_).first(count);
    decode(bytes_.data() + (i * columns_ + first) * size_of(dtype_), dtype_, unsigned_, part);
    if (!scales_.bytes.empty())
      for (std::size_t j = 0; j < count; ++j) part[j] *= scale(i, first + j);
    return part;
  }
  double element(std::size_t i, std::size_t j) const {
    double value = 0.0;
    decode(bytes_.data() + (i * columns_ + j) * size_of(dtype_), dtype_, unsigned_,
           std::span(&value, 1));
    return scales_.bytes.empty() ? value : value * scale(i, j);
  }

 private:
  double scale(std::size_t i, std::size_t j) const {
    const std::size_t at = i / scales_.tall * (columns_ / scales_.wide) + j / scales_.wide;
    return decode_scale(dtype_, scales_.bytes[at]) * scales_.tensor;
  }

  std::span<const std::byte> bytes_;
  Dtype dtype_;
  std::size_t columns_;
  bool unsigned_;
  RowScales scales_;
  std::vector<double> row_;
};

constexpr std::uint64_t kVectorSeed = 0x5eed;

/// The three matrices of one product.
struct Product {
  Product(const Matrices& x, Dtype output, std::span<const std::byte> result)
      : a(x.a, dtype_of_a(x.dtype), static_cast<std::size_t>(x.shape.k), true,
          {x.scales.a, 1, std::max<std::size_t>(1, block_of(x.dtype)),
           static_cast<double>(x.scales.tensor)}),
        b(x.b, dtype_of_b(x.dtype), static_cast<std::size_t>(x.shape.n), false,
          {x.scales.b, std::max<std::size_t>(1, block_of(x.dtype))}),
        c(result, output, static_cast<std::size_t>(x.shape.n)),
        output_type(output) {}

  MatrixRows a, b, c;
  Dtype output_type;
};

double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// Columns of the product and the vector that they are multiplied with.
struct Block {
  std::size_t first = 0;
  std::span<const double> r;
};

/// Rows that one thread checks at least: a millisecond's work.
std::size_t least_rows(const MatrixRows& matrix) {
  constexpr std::size_t kLeastElements = std::size_t{1} << 18;
  return kLeastElements / std::max<std::size_t>(1, matrix.columns()) + 1;
}

/// M restricted to the columns of the block, times its vector.
std::vector<double> times(const MatrixRows& matrix, const Block& block) {
  std::vector<double> y(matrix.count());
  in_parts(y.size(), least_rows(matrix), [&](std::size_t first, std::size_t last) {
    MatrixRows own = matrix;  // has the row last read
    for (std::size_t i = first; i < last; ++i)
      y[i] = dot(own.part_of_row(i, block.first, block.r.size()), block.r);
  });
  return y;
}

/// Keeps the largest; NaN if any is.
void keep_worst(double& worst, double error) {
  if (!(error <= worst) && !std::isnan(worst)) worst = error;
}

/// Largest |C r - A (B r)| of the rows [first, last), for each block.
std::vector<double> worst_of_rows(Product p, std::size_t first, std::size_t last,
                                  const std::vector<Block>& blocks,
                                  const std::vector<std::vector<double>>& inner) {
  std::vector<double> worst(blocks.size(), 0.0);
  for (std::size_t i = first; i < last; ++i) {
    const std::span<const double> row = p.a.row(i);
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      const Block& block = blocks[at];
      const double left = dot(p.c.part_of_row(i, block.first, block.r.size()), block.r);
      keep_worst(worst[at], std::abs(left - dot(row, inner[at])));
    }
  }
  return worst;
}

/// Largest |C r - A (B r)| of a row, for each block; NaN where any is. Every element is decoded
/// once.
std::vector<double> freivalds_errors(const Product& p, const std::vector<Block>& blocks) {
  std::vector<std::vector<double>> inner;
  for (const Block& block : blocks) inner.push_back(times(p.b, block));
  std::vector<double> worst(blocks.size(), 0.0);
  std::mutex mutex;
  in_parts(p.c.count(), least_rows(p.c), [&](std::size_t first, std::size_t last) {
    const std::vector<double> found = worst_of_rows(p, first, last, blocks, inner);
    const std::lock_guard lock(mutex);
    for (std::size_t at = 0; at < found.size(); ++at) keep_worst(worst[at], found[at]);
  });
  return worst;
}

/// The distance from the expected value, as the output type holds it.
double element_error(Product& p, std::size_t i, std::size_t j) {
  double sum = 0.0;
  const std::span<const double> row = p.a.row(i);
  for (std::size_t t = 0; t < row.size(); ++t) sum += row[t] * p.b.element(t, j);
  return std::abs(p.c.element(i, j) - rounded(sum, p.output_type));
}

/// The first, the last, and pseudorandom ones.
std::size_t chosen_place(std::size_t place, std::size_t all) {
  if (place == 0) return 0;
  return place == 1 ? all - 1 : random_bits(kVectorSeed, place) % all;
}

/// Of all elements, or of `places` of them.
double elements_error(const Product& p, std::size_t places) {
  constexpr std::size_t kLeastPlaces = 16;  // a millisecond's work in a large matrix
  const std::size_t columns = p.c.columns(), all = p.c.count() * columns;
  double worst = 0.0;
  std::mutex mutex;
  in_parts(std::min(all, places), kLeastPlaces, [&](std::size_t first, std::size_t last) {
    Product own = p;
    double found = 0.0;
    for (std::size_t place = first; place < last; ++place) {
      const std::size_t at = all <= places ? place : chosen_place(place, all);
      keep_worst(found, element_error(own, at / columns, at % columns));
    }
    const std::lock_guard lock(mutex);
    keep_worst(worst, found);
  });
  return worst;
}

/// Odd integers from -127 to 127: none is zero, so a single wrong element always shows, and the
/// sums stay below 2^53.
std::vector<double> odd_vector(std::size_t size) {
  std::vector<double> r(size);
  for (std::size_t i = 0; i < size; ++i)
    r[i] = static_cast<double>(random_bits(kVectorSeed, i) % 128) * 2 - 127;
  return r;
}

/// About 1 in size, so that it does not scale errors; all different, so that exchanged columns are
/// found; never near zero, so that every element counts.
std::vector<double> unlike_vector(std::uint64_t seed, std::size_t size) {
  std::vector<double> r(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t bits = random_bits(seed, i);
    const double magnitude = 0.5 + static_cast<double>(bits >> 12) * 0x1p-52;
    r[i] = (bits & 1) != 0 ? magnitude : -magnitude;
  }
  return r;
}

/// Sums are kept in f32, of fp8 in as few as 14 bits (Hopper's tensor cores; of block-scaled types
/// no more is assumed).
double roundoff_of_sums(Dtype input, Dtype output) {
  if (input == Dtype::fp8_e4m3 || input == Dtype::fp8_e5m2 || block_of(input) > 0) return 0x1p-14;
  return output == Dtype::f64 ? unit_roundoff(Dtype::f64) : unit_roundoff(Dtype::f32);
}

bool narrow(Dtype output) { return output == Dtype::bf16 || output == Dtype::f16; }

/// Tensor cores truncate what a block of 4 (A100) or 8 products adds to a sum, instead of rounding
/// it (Fasi et al., PeerJ CS 330, 2021; bit for bit in MMA-Sim): all errors go towards zero, and
/// those of a sum of k products add up to about k^1.5 u / 20. For other types this is negligible.
double cut_off(Dtype input, double k) {
  return input == Dtype::tf32 ? 0x1p-24 * k * std::sqrt(k) / 32 : 0.0;
}

/// The rounding error of a row's sum over some columns. Errors of a dot product of k terms of size
/// 1 add up to about u k / 2, and those of `columns` dot products to sqrt(columns) times as much. A
/// narrow output rounds every element, of size sqrt(k), once more.
double row_rounding(const Matrices& x, Dtype output, std::size_t columns) {
  const auto k = static_cast<double>(x.shape.k);
  // For an f64 product the rounding of the check itself, also in f64, counts: as many more terms.
  const double terms = k + (output == Dtype::f64 ? static_cast<double>(columns) : 0.0);
  const double sums = roundoff_of_sums(x.dtype, output) * terms / 2 + cut_off(x.dtype, k);
  const double elements = narrow(output) ? unit_roundoff(output) * std::sqrt(k) / 3 : 0.0;
  return (sums + elements) * std::sqrt(static_cast<double>(columns));
}

/// Error: how many bytes of the product of zeros are not zero; poisoned memory is full of them.
Check check_zeros(std::span<const std::byte> c) {
  const auto wrong = std::ranges::count_if(c, [](std::byte b) { return b != std::byte{0}; });
  return {"all bits zero", static_cast<double>(wrong), 0.0};
}

}  // namespace

Check check_exact(const Matrices& matrices, Dtype output, std::span<const std::byte> c) {
  constexpr double kSmall = 1 << 25;  // operations: some ten milliseconds
  constexpr std::size_t kPlaces = 256;
  Product p(matrices, output, c);
  // Sums of rounded elements are not exact; these are compared one by one.
  const std::vector<double> odd = odd_vector(p.c.columns());
  double error = narrow(output) ? 0.0 : freivalds_errors(p, {{0, odd}}).front();
  const std::size_t places = matrices.shape.operations() <= kSmall ? SIZE_MAX : kPlaces;
  const double elements = elements_error(p, places);
  if (!std::isnan(error) && !(elements <= error)) error = elements;
  return {"exact integers", error, 0.0};
}

Check check_freivalds(const Matrices& matrices, Dtype output, std::span<const std::byte> c,
                      std::uint64_t seed) {
  // The rounding of many columns would hide one wrong element of a narrow type.
  constexpr std::size_t kColumns = 1024;
  Product p(matrices, output, c);
  const std::size_t n = p.c.columns();
  const std::size_t step = narrow(output) ? std::min(n, kColumns) : n;
  const std::vector<double> r = unlike_vector(seed, n);
  std::vector<Block> blocks;
  for (std::size_t first = 0; first < n; first += step)
    blocks.push_back({first, std::span(r).subspan(first, std::min(step, n - first))});
  const std::vector<double> errors = freivalds_errors(p, blocks);
  double worst = 0.0;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const double allowed = 16 * row_rounding(matrices, output, blocks[at].r.size());
    if (!(errors[at] / allowed <= worst)) worst = errors[at] / allowed;
    if (std::isnan(worst)) break;
  }
  return {"Freivalds", worst, 1.0};
}

Check check_product(const Matrices& matrices, Dtype output, std::span<const std::byte> c) {
  if (matrices.values == MatrixValues::zeros) return check_zeros(c);
  if (is_integer(matrices.dtype) || matrices.values == MatrixValues::integers)
    return check_exact(matrices, output, c);
  return check_freivalds(matrices, output, c, kVectorSeed);
}

bool equal_bytes(std::span<const std::byte> one, std::span<const std::byte> other) {
  constexpr std::size_t kLeastBytes = std::size_t{1} << 23;  // a millisecond's work
  if (one.size() != other.size()) return false;
  std::atomic<bool> equal = true;
  in_parts(one.size(), kLeastBytes, [&](std::size_t first, std::size_t last) {
    if (std::memcmp(one.data() + first, other.data() + first, last - first) != 0) equal = false;
  });
  return equal;
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0x9e3779b97f4a7c15 ^ bytes.size();
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 0xff51afd7ed558ccd;  // odd, so that no two words collide
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace bench

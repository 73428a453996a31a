// A matrix of any dtype that is read as f64 row by row: a whole one would be eight times a GPU's
// fp8.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/block_scaled.h"
#include "core/elements.h"

namespace bench {

/// The scales of a block-scaled matrix: one for `tall` x `wide` of its elements.
struct RowScales {
  std::span<const std::byte> bytes;
  std::size_t tall = 1, wide = 1;
  double tensor = 1.0;
};

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

}  // namespace bench

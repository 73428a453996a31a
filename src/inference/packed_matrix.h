// The weights of one matrix as a decoder reads them: panels of columns, each of which is one stream
// through memory, in f32, bf16, or 8 or 4 bits with a scale for each 32 weights of a column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "training/kernels/memory.h"

namespace bench::inference {

/// int8 and int4: weight = scale x integer, the scale (bf16) being that of 32 weights along the
/// rows; the columns of their inputs are rounded to 8 bits in the same blocks.
enum class WeightType { f32, bf16, int8, int4 };
std::string_view to_string(WeightType type);
/// Throws Error(input) for another name.
WeightType weight_type(std::string_view name);
constexpr bool is_quantised(WeightType type) {
  return type == WeightType::int8 || type == WeightType::int4;
}

inline constexpr std::int64_t kPanelColumns = 32;
inline constexpr std::int64_t kBlockRows = 32;  // weights with one scale
/// Blocks for so many rows.
constexpr std::int64_t row_blocks(std::int64_t rows) {
  return (rows + kBlockRows - 1) / kBlockRows;
}

inline constexpr std::int64_t kGroupRows = 4;  // whose products one instruction adds up

/// What is added to a quantised weight so that it is stored without a sign.
constexpr int weight_offset(WeightType type) { return type == WeightType::int8 ? 128 : 8; }

/// A matrix in host memory, row-major; or, transposed, one of which this holds the columns.
struct MatrixSource {
  const float* values = nullptr;
  std::int64_t rows = 0, columns = 0;  // of the matrix that is packed
  bool transposed = false;             // values[column x rows + row]

  float at(std::int64_t row, std::int64_t column) const {
    return transposed ? values[column * rows + row] : values[row * columns + column];
  }
};

/// [rows, columns]; columns beyond the last are zeros, and so are rows of a quantised matrix beyond
/// its last.
///
/// A panel is, for f32: row by row, its 32 columns; for bf16: of each two rows, column by column
/// both weights. For int8 and int4: block by block of 32 rows, 32 scales (bf16) and then 8 groups
/// of 4 rows, each by column and then by row; of int4 two groups share the bytes of one, the first
/// having the lower halves.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// Throws Error(environment) if out of memory, Error(internal) for weights that are not numbers
  /// and are to be quantised.
  PackedMatrix(const MatrixSource& from, WeightType type);

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  WeightType type() const { return type_; }
  std::int64_t panels() const { return (columns_ + kPanelColumns - 1) / kPanelColumns; }
  std::int64_t blocks() const { return row_blocks(rows_); }
  const std::byte* panel(std::int64_t index) const { return memory_.data() + index * panel_bytes_; }
  std::int64_t bytes() const { return panels() * panel_bytes_; }
  static std::int64_t bytes(std::int64_t rows, std::int64_t columns, WeightType type);

  /// The weight that is stored.
  float at(std::int64_t row, std::int64_t column) const;

 private:
  std::int64_t rows_ = 0, columns_ = 0, panel_bytes_ = 0;
  WeightType type_ = WeightType::f32;
  training::MemoryBlock memory_ = {};
};

/// Bytes of one block of a quantised panel.
constexpr std::int64_t block_bytes(WeightType type) {
  const std::int64_t weights = kBlockRows * kPanelColumns;
  return 2 * kPanelColumns + (type == WeightType::int8 ? weights : weights / 2);
}

}  // namespace bench::inference

#include "inference/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/names.h"
#include "training/engine/graph.h"
#include "training/kernels/functors/portable.h"

namespace bench::inference {
namespace {

using training::Bf16;

constexpr NameTable<WeightType, 4> kWeightTypes{{{{WeightType::f32, "f32"},
                                                  {WeightType::bf16, "bf16"},
                                                  {WeightType::int8, "int8"},
                                                  {WeightType::int4, "int4"}}}};

std::int64_t panel_bytes(std::int64_t rows, WeightType type) {
  if (is_quantised(type)) return row_blocks(rows) * block_bytes(type);
  if (type == WeightType::bf16) return (rows + 1) / 2 * kPanelColumns * 4;
  return rows * kPanelColumns * 4;
}

/// The place of a weight within a block, after the scales: of int4, in halves of bytes.
struct BlockPlace {
  std::int64_t byte;
  bool upper_half;
};

BlockPlace place_in_block(WeightType type, std::int64_t row, std::int64_t column) {
  const std::int64_t group = row / kGroupRows;
  const std::int64_t in_group = column * kGroupRows + row % kGroupRows;
  const std::int64_t group_bytes = kGroupRows * kPanelColumns;
  if (type == WeightType::int8) return {group * group_bytes + in_group, false};
  return {group / 2 * group_bytes + in_group, group % 2 == 1};
}

/// One column of a block. The largest weight gets the integer furthest from zero, which for 4 bits
/// is -8.
void quantise_column(const float* weights, WeightType type, std::int64_t column, std::byte* block) {
  float largest = 0.0F;
  for (std::int64_t i = 0; i < kBlockRows; ++i)
    training::require(std::isfinite(weights[i]), "quantised weights", "one is not a number");
  for (std::int64_t i = 0; i < kBlockRows; ++i)
    if (std::fabs(weights[i]) > std::fabs(largest)) largest = weights[i];
  const int most = type == WeightType::int8 ? 127 : 7, least = type == WeightType::int8 ? -127 : -8;
  const Bf16 stored_scale(type == WeightType::int8 ? std::fabs(largest) / 127.0F : largest / -8.0F);
  const auto scale = static_cast<float>(stored_scale);
  std::memcpy(block + 2 * column, &stored_scale, sizeof stored_scale);
  std::byte* values = block + 2 * kPanelColumns;
  for (std::int64_t i = 0; i < kBlockRows; ++i) {
    const float exact = scale == 0.0F ? 0.0F : weights[i] / scale;
    const int rounded = std::clamp(static_cast<int>(std::lround(exact)), least, most);
    const auto stored = static_cast<std::byte>(rounded + weight_offset(type));
    const auto [byte, upper] = place_in_block(type, i, column);
    values[byte] = upper ? values[byte] | stored << 4 : stored;
  }
}

void pack_quantised(const MatrixSource& from, WeightType type, std::int64_t panel, std::byte* to) {
  float weights[kBlockRows];
  for (std::int64_t row = 0; row < from.rows; row += kBlockRows, to += block_bytes(type))
    for (std::int64_t j = 0; j < kPanelColumns; ++j) {
      const std::int64_t column = panel * kPanelColumns + j;
      for (std::int64_t i = 0; i < kBlockRows; ++i)
        weights[i] = row + i < from.rows && column < from.columns ? from.at(row + i, column) : 0.0F;
      quantise_column(weights, type, j, to);
    }
}

/// Of a weight in a panel of f32 or bf16.
std::int64_t place_in_panel(WeightType type, std::int64_t row, std::int64_t column) {
  if (type == WeightType::f32) return row * kPanelColumns + column;
  return row / 2 * 2 * kPanelColumns + 2 * column + row % 2;
}

template <class T>
void pack_rows(const MatrixSource& from, WeightType type, std::int64_t panel, std::byte* to) {
  T* values = reinterpret_cast<T*>(to);
  const std::int64_t first = panel * kPanelColumns;
  const std::int64_t count = std::min(kPanelColumns, from.columns - first);
  for (std::int64_t i = 0; i < from.rows; ++i)
    for (std::int64_t j = 0; j < count; ++j)
      values[place_in_panel(type, i, j)] = T(from.at(i, first + j));
}

}  // namespace

std::string_view to_string(WeightType type) { return kWeightTypes.name(type); }
WeightType weight_type(std::string_view name) { return kWeightTypes.value(name, "weight type"); }

PackedMatrix::PackedMatrix(const MatrixSource& from, WeightType type)
    : rows_(from.rows),
      columns_(from.columns),
      panel_bytes_(panel_bytes(from.rows, type)),
      type_(type),
      memory_(bytes(from.rows, from.columns, type), "weights for inference") {
  for (std::int64_t i = 0; i < panels(); ++i) {
    std::byte* to = memory_.data() + i * panel_bytes_;
    if (is_quantised(type))
      pack_quantised(from, type, i, to);
    else if (type == WeightType::bf16)
      pack_rows<Bf16>(from, type, i, to);
    else
      pack_rows<float>(from, type, i, to);
  }
}

std::int64_t PackedMatrix::bytes(std::int64_t rows, std::int64_t columns, WeightType type) {
  return (columns + kPanelColumns - 1) / kPanelColumns * panel_bytes(rows, type);
}

float PackedMatrix::at(std::int64_t row, std::int64_t column) const {
  const std::byte* from = panel(column / kPanelColumns);
  const std::int64_t j = column % kPanelColumns;
  const std::int64_t place = place_in_panel(type_, row, j);
  if (type_ == WeightType::f32) return reinterpret_cast<const float*>(from)[place];
  if (type_ == WeightType::bf16)
    return static_cast<float>(reinterpret_cast<const Bf16*>(from)[place]);
  from += row / kBlockRows * block_bytes(type_);
  Bf16 scale;
  std::memcpy(&scale, from + 2 * j, sizeof scale);
  const auto [byte, upper] = place_in_block(type_, row % kBlockRows, j);
  int stored = std::to_integer<int>(from[2 * kPanelColumns + byte]);
  if (type_ == WeightType::int4) stored = upper ? stored >> 4 : stored & 15;
  return static_cast<float>(scale) * static_cast<float>(stored - weight_offset(type_));
}

}  // namespace bench::inference

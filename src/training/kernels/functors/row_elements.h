// Bodies that compute elements of a row from others of that row or of a table: at<width>(row,
// column) computes `width` elements, columns() is the number per row.
#pragma once

#include <math.h>

#include "training/kernels/functors/portable.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

template <class T>
struct SwigluForward {
  const T* x;
  T* y;
  std::int64_t n;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const auto gate = load_pack<width>(x + row * 2 * n + column);
    auto up = load_pack<width>(x + row * 2 * n + n + column);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float g = static_cast<float>(gate.at[k]);
      up.at[k] = T(g * static_cast<float>(up.at[k]) / (1.0f + expf(-g)));
    }
    store_pack(y + row * n + column, up);
  }
};

template <class T>
struct SwigluBackward {
  const T *x, *y_gradient;
  T* x_gradient;
  std::int64_t n;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t gate_at = row * 2 * n + column, up_at = gate_at + n;
    const auto gate = load_pack<width>(x + gate_at), up = load_pack<width>(x + up_at);
    const auto dy = load_pack<width>(y_gradient + row * n + column);
    auto of_gate = load_if<width>(add, x_gradient + gate_at);
    auto of_up = load_if<width>(add, x_gradient + up_at);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float g = static_cast<float>(gate.at[k]), d = static_cast<float>(dy.at[k]);
      const float s = 1.0f / (1.0f + expf(-g)), silu = g * s;
      const float slope = d * static_cast<float>(up.at[k]) * (s + silu * (1.0f - s));
      of_gate.at[k] = T(static_cast<float>(of_gate.at[k]) + slope);
      of_up.at[k] = T(static_cast<float>(of_up.at[k]) + d * silu);
    }
    store_pack(x_gradient + gate_at, of_gate);
    store_pack(x_gradient + up_at, of_up);
  }
};

/// Pairs of a head's halves; then v, unchanged, also as pairs of its halves.
template <class T>
struct RopePairs {
  const T* x;
  const float* angles;  // [sequence, head_dim]: cosines, then sines
  T* y;
  std::int64_t sequence, width_of_row, half;
  std::int64_t rotated;  // heads of queries and keys
  bool back, add;
  BENCH_BOTH std::int64_t columns() const { return width_of_row / 2; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t head = column / half, pair = column % half;
    const std::int64_t first = row * width_of_row + head * 2 * half + pair, second = first + half;
    const auto a = load_pack<width>(x + first), b = load_pack<width>(x + second);
    auto left = load_if<width>(add, y + first), right = load_if<width>(add, y + second);
    const bool turns = head < rotated;
    const float* cosine = angles + row % sequence * 2 * half + pair;
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float c = turns ? cosine[k] : 1.0f, turn = turns ? cosine[half + k] : 0.0f;
      const float s = back ? -turn : turn;
      const float u = static_cast<float>(a.at[k]), v = static_cast<float>(b.at[k]);
      left.at[k] = T(static_cast<float>(left.at[k]) + u * c - v * s);
      right.at[k] = T(static_cast<float>(right.at[k]) + u * s + v * c);
    }
    store_pack(y + first, left);
    store_pack(y + second, right);
  }
};

/// An ID outside its table, reported to the host; all ones: none.
struct IdFault {
  unsigned long long row_and_id;
  std::int64_t rows;  // of the table
};
BENCH_BOTH inline void report_id(IdFault* fault, std::int64_t row, std::int32_t id,
                                 std::int64_t rows) {
  fault->rows = rows;
  fault->row_and_id = static_cast<unsigned long long>(row) << 32 | static_cast<std::uint32_t>(id);
}

template <class T>
struct EmbeddingRows {
  const std::int32_t* ids;
  const T* table;
  T* y;
  std::int64_t n, table_rows;
  IdFault* fault;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int32_t id = ids[row];
    const bool there = id >= 0 && id < table_rows;
    if (!there && column == 0) report_id(fault, row, id, table_rows);
    store_pack(y + row * n + column,
               load_pack<width>(table + (there ? id * n : std::int64_t{0}) + column));
  }
};

template <class T>
struct AddPositions {
  const T *x, *table;
  T* y;
  std::int64_t n, sequence;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    auto pack = load_pack<width>(x + row * n + column);
    const auto other = load_pack<width>(table + row % sequence * n + column);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      pack.at[k] = T(static_cast<float>(pack.at[k]) + static_cast<float>(other.at[k]));
    store_pack(y + row * n + column, pack);
  }
};

/// Each row of the table's gradient sums its position over the sequences of the batch, in order.
template <class T>
struct PositionsBackward {
  const T* y_gradient;
  T* table_gradient;
  std::int64_t n, sequence, sequences;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t position, std::int64_t column) const {
    const auto before = load_if<width>(add, table_gradient + position * n + column);
    float sums[width];
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sums[k] = static_cast<float>(before.at[k]);
    for (std::int64_t s = 0; s < sequences; ++s) {
      const auto pack = load_pack<width>(y_gradient + (s * sequence + position) * n + column);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) sums[k] += static_cast<float>(pack.at[k]);
    }
    Pack<T, width> result;
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) result.at[k] = T(sums[k]);
    store_pack(table_gradient + position * n + column, result);
  }
};

/// Positions are sorted by ID (stable): at the first of each ID, its rows of the gradient are
/// summed in the order of positions and added to the table's row; other rows do nothing.
template <class T>
struct EmbeddingBackward {
  const std::int32_t* sorted_ids;  // rows of the table; table_rows for those that it lacks
  const std::int32_t* positions;
  const T* y_gradient;
  T* table_gradient;
  std::int64_t count, n, table_rows;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int32_t id = sorted_ids[row];
    if (id >= table_rows || (row > 0 && sorted_ids[row - 1] == id)) return;
    T* to = table_gradient + id * n + column;
    const auto before = load_pack<width>(to);
    float sums[width];
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sums[k] = static_cast<float>(before.at[k]);
    for (std::int64_t i = row; i < count && sorted_ids[i] == id; ++i) {
      const auto pack = load_pack<width>(y_gradient + positions[i] * n + column);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) sums[k] += static_cast<float>(pack.at[k]);
    }
    Pack<T, width> result;
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) result.at[k] = T(sums[k]);
    store_pack(to, result);
  }
};

}  // namespace bench::training

// A tile of a large GEMM in registers, over factors in the order of pack.h: of a, the
// kPackedRows elements of a column are contiguous, then those of the next; of b, a row of
// kPackedColumns.
#pragma once

#include "probes/training/backends/host/gemm_loops.h"

namespace bench::training::BENCH_ISA {

// Registers: kPackedRows x 2 sums, 2 of b, one of a.
constexpr int kPackedRows = BENCH_VECTOR_REGISTERS >= 32 ? 12 : 6;
/// Tiles at the lower edge have a multiple of these.
constexpr int kPackedRowStep = kPackedRows / 3;
template <class T>
constexpr Index kPackedColumns = 2 * kWidth<T>;

/// Prefetches the next tile of c while this one is computed.
template <class T>
inline __attribute__((always_inline)) void fetch_tile(const T* c, Index stride) {
  for (int i = 0; i < kPackedRows; ++i)
    for (int v = 0; v < 2; ++v) __builtin_prefetch(c + i * stride + v * kWidth<T>, 1);
}

/// c[rows, kPackedColumns] = a b (+ start). Sums start from `start` and traverse k in
/// order, as those of gemm_loops.h do: both give the same bits.
template <class T, int rows>
inline void packed_tile(Index k, const T* a, const T* b, Start<T> start, T* c, Index stride) {
  Vec<T> sum[rows][2];
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < 2; ++v) {
      const Index column = v * kWidth<T>;
      sum[i][v] = start.addend ? load<T>(start.addend + i * start.stride + column) : Vec<T>{};
      if (start.bias) sum[i][v] += load<T>(start.bias + column);
    }
  for (Index p = 0; p < k; ++p, a += kPackedRows, b += kPackedColumns<T>) {
    Vec<T> row[2];
    for (int v = 0; v < 2; ++v) row[v] = load<T>(b + v * kWidth<T>);
    for (int i = 0; i < rows; ++i)
      for (int v = 0; v < 2; ++v) sum[i][v] += a[i] * row[v];
  }
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < 2; ++v) store<T>(c + i * stride + v * kWidth<T>, sum[i][v]);
}

/// The same for edge tiles with fewer rows or columns.
template <class T>
inline void packed_edge(Index k, const T* a, const T* b, Start<T> start, T* c, Index stride,
                        Index rows, Index columns) {
  constexpr Index kColumns = kPackedColumns<T>;
  alignas(64) T whole[kPackedRows * kColumns] = {};
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j)
      whole[i * kColumns + j] = (start.addend ? start.addend[i * start.stride + j] : T{}) +
                                (start.bias ? start.bias[j] : T{});
  packed_tile<T, kPackedRows>(k, a, b, {whole, kColumns, nullptr}, whole, kColumns);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < columns; ++j) c[i * stride + j] = whole[i * kColumns + j];
}

/// c[rows, columns] = a b (+ start), at most a whole tile.
template <class T>
inline void packed_product(Index k, const T* a, const T* b, Start<T> start, T* c, Index stride,
                           Index rows, Index columns) {
  const bool whole = columns == kPackedColumns<T>;
  if (whole && rows == kPackedRows)
    packed_tile<T, kPackedRows>(k, a, b, start, c, stride);
  else if (whole && rows == 2 * kPackedRowStep)
    packed_tile<T, 2 * kPackedRowStep>(k, a, b, start, c, stride);
  else if (whole && rows == kPackedRowStep)
    packed_tile<T, kPackedRowStep>(k, a, b, start, c, stride);
  else
    packed_edge<T>(k, a, b, start, c, stride, rows, columns);
}

}  // namespace bench::training::BENCH_ISA

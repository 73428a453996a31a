// Packs the operands of a large GEMM into the order in which packed_tile.h reads them. Elements
// beyond an edge are zero.
#pragma once

#include <algorithm>

#include "probes/training/backends/host/packed_tile.h"
#include "probes/training/backends/host/transpose_block.h"

namespace bench::training::BENCH_ISA {

/// to[p, j] = from[p, j] of `n` columns, at most kPackedColumns.
template <class T>
inline void pack_right(Operand<T> from, Index n, Index k, T* to) {
  for (Index p = 0; p < k; ++p, to += kPackedColumns<T>) {
    const T* row = from.data + p * from.stride;
    if (n == kPackedColumns<T>) {
      for (int v = 0; v < 2; ++v) store<T>(to + v * kWidth<T>, load<T>(row + v * kWidth<T>));
      continue;
    }
    for (Index j = 0; j < kPackedColumns<T>; ++j) to[j] = j < n ? row[j] : T{};
  }
}

/// to[p, j] = from[j, p].
template <class T>
inline void pack_right_turned(Operand<T> from, Index n, Index k, T* to) {
  const Index whole = k / kWidth<T> * kWidth<T>;
  for (Index j = 0; j < kPackedColumns<T>; j += kWidth<T>) {
    const T* rows = from.data + j * from.stride;
    for (Index p = 0; p < whole; p += kWidth<T>) {
      Vec<T> block[kWidth<T>];
      load_block<T>(rows + p, from.stride, n - j, block);
      transpose_block<T>(block);
      for (int q = 0; q < kWidth<T>; ++q) store<T>(to + (p + q) * kPackedColumns<T> + j, block[q]);
    }
    for (Index p = whole; p < k; ++p)
      for (int q = 0; q < kWidth<T>; ++q)
        to[p * kPackedColumns<T> + j + q] = j + q < n ? rows[q * from.stride + p] : T{};
  }
}

/// One tile's rows of a: to[p, i] = from[i, p], of `m` rows. Writes up to a vector beyond its end.
template <class T>
inline void pack_left(Operand<T> from, Index m, Index k, T* to) {
  constexpr int kGroups = (kPackedRows + kWidth<T> - 1) / kWidth<T>;
  const Index whole = k / kWidth<T> * kWidth<T>;
  for (Index p = 0; p < whole; p += kWidth<T>) {
    Vec<T> block[kGroups][kWidth<T>];
    for (int g = 0; g < kGroups; ++g) {
      const Index rows = std::min<Index>(m, kPackedRows) - g * kWidth<T>;
      load_block<T>(from.data + g * kWidth<T> * from.stride + p, from.stride, rows, block[g]);
      transpose_block<T>(block[g]);
    }
    // In this order: a group that is wider than what is left of the rows reaches into the next
    // column, which is written after it.
    for (int q = 0; q < kWidth<T>; ++q)
      for (int g = 0; g < kGroups; ++g)
        store<T>(to + (p + q) * kPackedRows + g * kWidth<T>, block[g][q]);
  }
  for (Index p = whole; p < k; ++p)
    for (Index i = 0; i < kPackedRows; ++i)
      to[p * kPackedRows + i] = i < m ? from.data[i * from.stride + p] : T{};
}

/// All rows of a block of a that is transposed, tile by tile: to[t][p, i] = from[p, t kPackedRows +
/// i]. Some tiles at a time, which reads whole lines and writes no more streams than a cache has
/// ways.
template <class T>
inline void pack_left_turned(Operand<T> from, Index m, Index k, T* to) {
  constexpr Index kTiles = 8, kGroup = kTiles * kPackedRows;
  for (Index first = 0; first < m; first += kGroup)
    for (Index p = 0; p < k; ++p) {
      const T* row = from.data + p * from.stride;
      for (Index i = first; i < std::min(m, first + kGroup); i += kPackedRows) {
        T* column = to + i * k + p * kPackedRows;
        if (i + kPackedRows <= m)
          __builtin_memcpy(column, row + i, kPackedRows * sizeof(T));
        else
          for (Index r = 0; r < kPackedRows; ++r) column[r] = i + r < m ? row[i + r] : T{};
      }
    }
}

}  // namespace bench::training::BENCH_ISA

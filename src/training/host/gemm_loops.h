// GEMM loops on one thread: a tile of the result stays in registers over k; panels of b as wide as
// the tile are gathered first, transposed if requested.
#pragma once

#include "training/host/vector.h"

namespace bench::training::BENCH_ISA {

// Registers: kTileRows x kTileVectors sums, kTileVectors of b, one of a.
constexpr int kTileRows = 6;
constexpr int kTileVectors = BENCH_VECTOR_REGISTERS >= 32 ? 4 : 2;

template <class T>
struct Operand {
  const T* data;
  Index stride;  // elements from row to row
};

/// Initial values of the sums; either may be absent.
template <class T>
struct Start {
  const T* addend;
  Index stride;
  const T* bias;
};

template <class T, int rows, int vectors, bool transposed>
inline __attribute__((always_inline)) void tile(Index k, Operand<T> a, Operand<T> b, Start<T> start,
                                                T* c, Index c_stride) {
  // Unrolled at -O2 too (sanitizers): a sum whose index is not constant does not stay in a
  // register.
  Vec<T> sum[rows][vectors];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 12
    for (int v = 0; v < vectors; ++v) {
      sum[i][v] =
          start.addend ? load<T>(start.addend + i * start.stride + v * kWidth<T>) : Vec<T>{};
      if (start.bias) sum[i][v] += load<T>(start.bias + v * kWidth<T>);
    }
  for (Index p = 0; p < k; ++p) {
    Vec<T> row[vectors];
#pragma GCC unroll 12
    for (int v = 0; v < vectors; ++v) row[v] = load<T>(b.data + p * b.stride + v * kWidth<T>);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const T x = transposed ? a.data[p * a.stride + i] : a.data[i * a.stride + p];
#pragma GCC unroll 12
      for (int v = 0; v < vectors; ++v) sum[i][v] += x * row[v];
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 12
    for (int v = 0; v < vectors; ++v) store<T>(c + i * c_stride + v * kWidth<T>, sum[i][v]);
}

template <class T, int rows, int vectors, bool transposed>
inline void tile_rows(Index m, Index k, Operand<T> a, Operand<T> b, Start<T> start, T* c,
                      Index c_stride) {
  Index i = 0;
  for (; i + rows <= m; i += rows) {
    const Operand<T> here{a.data + (transposed ? i : i * a.stride), a.stride};
    const Start<T> from{start.addend ? start.addend + i * start.stride : nullptr, start.stride,
                        start.bias};
    tile<T, rows, vectors, transposed>(k, here, b, from, c + i * c_stride, c_stride);
  }
  if constexpr (rows > 1) {
    if (i == m) return;
    const Operand<T> rest{a.data + (transposed ? i : i * a.stride), a.stride};
    const Start<T> from{start.addend ? start.addend + i * start.stride : nullptr, start.stride,
                        start.bias};
    tile_rows<T, rows / 2, vectors, transposed>(m - i, k, rest, b, from, c + i * c_stride,
                                                c_stride);
  }
}

/// c[m, n] = op(a) b (+ start), n a multiple of the vector width, b read in place.
template <class T, bool transposed>
inline void block_product(Index m, Index n, Index k, Operand<T> a, Operand<T> b, Start<T> start,
                          T* c, Index c_stride) {
  Index j = 0;
  const auto columns = [&](auto vectors) {
    constexpr int kVectors = decltype(vectors)::value;
    constexpr int kRows = kVectors == 1 ? 2 * kTileRows : kTileRows;
    for (; j + kVectors * kWidth<T> <= n; j += kVectors * kWidth<T>)
      tile_rows<T, kRows, kVectors, transposed>(
          m, k, a, {b.data + j, b.stride},
          {start.addend ? start.addend + j : nullptr, start.stride,
           start.bias ? start.bias + j : nullptr},
          c + j, c_stride);
  };
  if constexpr (kTileVectors == 4) columns(std::integral_constant<int, 4>{});
  columns(std::integral_constant<int, 2>{});
  columns(std::integral_constant<int, 1>{});
}

}  // namespace bench::training::BENCH_ISA

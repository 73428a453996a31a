// Transposes square blocks in registers, for packing GEMM operands.
#pragma once

#include "probes/training/backends/host/vector.h"

namespace bench::training::BENCH_ISA {

/// Of two rows that differ in the bit `step`: the one with it 0, and the one with it 1.
template <int step, int width, bool second>
struct Exchanged {
  static constexpr int lane(int i) {
    if (second) return i & step ? width + i : i + step;
    return i & step ? width + i - step : i;
  }
};

/// As many rows as a vector is wide become columns: log2 stages, each of which exchanges one bit of
/// the number of the row with the same bit of the number of the column.
template <class T, int step = 1>
inline __attribute__((always_inline)) void transpose_block(Vec<T> (&rows)[kWidth<T>]) {
  for (int r = 0; r < kWidth<T>; ++r) {
    if (r & step) continue;
    const Vec<T> a = rows[r], b = rows[r + step];
    rows[r] = shuffled<Exchanged<step, kWidth<T>, false>, T>(a, b);
    rows[r + step] = shuffled<Exchanged<step, kWidth<T>, true>, T>(a, b);
  }
  if constexpr (2 * step < kWidth<T>) transpose_block<T, 2 * step>(rows);
}

/// rows[i] = the vector at `from + i stride`; zeros from row `count`.
template <class T>
inline __attribute__((always_inline)) void load_block(const T* from, Index stride, Index count,
                                                      Vec<T> (&rows)[kWidth<T>]) {
  if (count >= kWidth<T>) {
    for (int i = 0; i < kWidth<T>; ++i) rows[i] = load<T>(from + i * stride);
    return;
  }
  for (int i = 0; i < kWidth<T>; ++i) rows[i] = i < count ? load<T>(from + i * stride) : Vec<T>{};
}

}  // namespace bench::training::BENCH_ISA

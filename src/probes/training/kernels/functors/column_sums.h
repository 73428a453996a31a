// Sums down columns in two stages, always in the same order: each slab of rows leaves partial sums,
// then those are summed slab by slab.
#pragma once

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

/// The summands: a matrix, or the gradient of a norm's gain.
template <class T>
struct PlainTerm {
  const T* x;
  std::int64_t n;
  BENCH_BOTH float operator()(std::int64_t row, std::int64_t column) const {
    return static_cast<float>(x[row * n + column]);
  }
};
template <class T, bool centred>
struct GainTerm {
  const T *x, *output_gradient;
  const float* statistics;
  std::int64_t n;
  BENCH_BOTH float operator()(std::int64_t row, std::int64_t column) const {
    const float mean = centred ? statistics[2 * row] : 0.0f;
    const float r = centred ? statistics[2 * row + 1] : statistics[row];
    return static_cast<float>(output_gradient[row * n + column]) *
           (static_cast<float>(x[row * n + column]) - mean) * r;
  }
};

/// One slab's sum of one column, to partial[slab, column].
template <class Term>
struct SlabSums {
  Term term;
  float* partial;
  std::int64_t rows, n, slab_rows;
  BENCH_BOTH void slab(std::int64_t index, std::int64_t column) const {
    const std::int64_t end = (index + 1) * slab_rows < rows ? (index + 1) * slab_rows : rows;
    float sum = 0.0f;
    for (std::int64_t row = index * slab_rows; row < end; ++row) sum += term(row, column);
    partial[index * n + column] = sum;
  }
};

template <class T>
struct SumOfSlabs {
  const float* partial;
  T* sums;
  std::int64_t slabs, n;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t column) const {
    float sum = add ? static_cast<float>(sums[column]) : 0.0f;
    for (std::int64_t slab = 0; slab < slabs; ++slab) sum += partial[slab * n + column];
    sums[column] = T(sum);
  }
};

}  // namespace bench::training

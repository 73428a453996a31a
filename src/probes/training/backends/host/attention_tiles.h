// Blocks of queries and keys, gathered from packed rows so that attention consists of block GEMMs
// with rows as wide as a vector.
#pragma once

#include <algorithm>

#include "probes/training/backends/host/gemm_loops.h"
#include "probes/training/kernels/attention.h"

namespace bench::training::BENCH_ISA {

constexpr Index kMaxHeadDim = 256;
constexpr Index kQueryBlock = 64;
constexpr Index kKeyBlock = 64;
constexpr Index kQueryStrip = 16;  // causal rows of a strip stop at its last key

/// One head of one sequence.
template <class T>
struct Head {
  const T* data;  // its first column in the sequence's first row
  Index stride;   // from position to position
  bool shifted;   // position j reads j - 1, and the first reads zeros

  const T* row(Index position) const {
    if (!shifted) return data + position * stride;
    return position == 0 ? nullptr : data + (position - 1) * stride;
  }
};

template <class T>
struct HeadOf {
  const AttentionShape& shape;
  Index width = shape.packed_columns();
  Index at(Index sequence, Index head) const {
    return sequence * shape.sequence * width + head * shape.head_dim;
  }
  Head<T> query(const T* packed, Index sequence, Index head) const {
    return {packed + at(sequence, head), width, false};
  }
  Head<T> key(const T* packed, Index sequence, Index kv) const {
    return {packed + at(sequence, shape.heads + kv), width, kv < shape.shifted_kv_heads};
  }
  Head<T> value(const T* packed, Index sequence, Index kv) const {
    return {packed + at(sequence, shape.heads + shape.kv_heads + kv), width, false};
  }
};

/// rows[i] = factor x the head's row at first + i; columns and rows beyond the end are zeros.
template <class T>
inline void copy_rows(Head<T> head, Index first, Index count, Index capacity, Index dim, T factor,
                      T* rows) {
  const Index padded = round_up<T>(dim);
  for (Index i = 0; i < capacity; ++i) {
    const T* from = i < count ? head.row(first + i) : nullptr;
    T* to = rows + i * padded;
    if (from)
      each_vector<T>(dim, [=](auto at) { store<T>(to + at.at, factor * at(from)); });
    else
      for (Index d = 0; d < padded; d += kWidth<T>) store<T>(to + d, Vec<T>{});
  }
}

/// columns[d][j] = rows[j][d], kKeyBlock wide.
template <class T>
inline void turn(const T* rows, Index dim, T* columns) {
  const Index padded = round_up<T>(dim);
  for (Index d = 0; d < dim; ++d)
    for (Index j = 0; j < kKeyBlock; ++j) columns[d * kKeyBlock + j] = rows[j * padded + d];
}

/// How many keys of the block at `first_key` the query at `position` sees.
inline Index visible(const AttentionShape& shape, Index position, Index first_key) {
  const Index end = shape.causal ? position + 1 : shape.sequence;
  return std::clamp<Index>(end - first_key, 0, std::min(kKeyBlock, shape.sequence - first_key));
}

}  // namespace bench::training::BENCH_ISA

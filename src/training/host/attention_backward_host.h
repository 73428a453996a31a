// Attention. In the backward pass, the outer loop is over blocks of keys and the inner over
// queries, so that the gradients of a block of keys and values are summed in one place;
// probabilities are recomputed from log_sum.
#pragma once

#include <algorithm>
#include <cmath>

#include "training/host/exponential.h"
#include "training/host/gemm_loops.h"
#include "training/kernels/kernel_set.h"

namespace bench::training::BENCH_ISA {

// Blocks of queries and keys are gathered from packed rows, so that attention consists of block
// GEMMs with rows padded to vectors.

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

/// rows[i] = factor x the head's row at first + i; zero beyond the last row or column.
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

/// Number of keys of the block at `first_key` that the query at `position` sees.
inline Index visible(const AttentionShape& shape, Index position, Index first_key) {
  const Index end = shape.causal ? position + 1 : shape.sequence;
  return std::clamp<Index>(end - first_key, 0, std::min(kKeyBlock, shape.sequence - first_key));
}

/// Attention in blocks with a running softmax (FlashAttention-2, arXiv 2307.08691) on one thread:
/// no matrix is larger than kQueryStrip x kKeyBlock. Sums have a fixed order.
template <class T>
class Attention final : public AttentionKernels {
 public:
  void forward(const AttentionShape& shape, View packed, View output, View log_sum) override {
    const HeadOf<T> heads{shape};
    const Index group = shape.heads / shape.kv_heads;
    for (Index s = 0; s < packed.rows / shape.sequence; ++s)
      for (Index kv = 0; kv < shape.kv_heads; ++kv) {
        const Head<T> key = heads.key(packed.as<T>(), s, kv);
        const Head<T> value = heads.value(packed.as<T>(), s, kv);
        held_ = -1;
        for (Index h = kv * group; h < (kv + 1) * group; ++h)
          one_head(shape, heads.query(packed.as<T>(), s, h), key, value,
                   output.as<T>() + s * shape.sequence * output.columns + h * shape.head_dim,
                   output.columns, log_sum.as<T>() + s * shape.sequence * shape.heads + h);
      }
  }

  void backward(const AttentionShape& shape, const AttentionBackward& what) override;

  void join(const AttentionShape& shape, const AttentionPart& part,
            const AttentionPart& sum) override {
    for (Index i = 0; i < sum.log_sum.elements(); ++i) {
      const T a = sum.log_sum.as<T>()[i], b = part.log_sum.as<T>()[i];
      const T most = std::max(a, b);
      const T of_sum = std::exp(a - most), of_part = std::exp(b - most), all = of_sum + of_part;
      const T keeps = of_sum / all, gains = of_part / all;
      T* to = sum.output.as<T>() + i * shape.head_dim;
      const T* from = part.output.as<T>() + i * shape.head_dim;
      each_vector<T>(shape.head_dim,
                     [=](auto at) { at.put(to, keeps * at(to) + gains * at(from)); });
      sum.log_sum.as<T>()[i] = most + std::log(all);
    }
  }

 private:
  static T scale_of(const AttentionShape& shape) {
    return T{1} / std::sqrt(static_cast<T>(shape.head_dim));
  }

  /// Loads the block at `first`: keys transposed, values unchanged.
  void hold(const AttentionShape& shape, Head<T> key, Head<T> value, Index first) {
    if (held_ == first) return;
    held_ = first;
    const Index count = std::min(kKeyBlock, shape.sequence - first);
    copy_rows(key, first, count, kKeyBlock, shape.head_dim, T{1}, keys_);
    turn(keys_, shape.head_dim, keys_turned_);
    copy_rows(value, first, count, kKeyBlock, shape.head_dim, T{1}, values_);
  }

  void one_head(const AttentionShape& shape, Head<T> query, Head<T> key, Head<T> value, T* output,
                Index stride, T* log_sum) {
    const Index padded = round_up<T>(shape.head_dim);
    for (Index q0 = 0; q0 < shape.sequence; q0 += kQueryBlock) {
      const Index count = std::min(kQueryBlock, shape.sequence - q0);
      copy_rows(query, q0, count, kQueryBlock, shape.head_dim, scale_of(shape), queries_);
      for (Index i = 0; i < kQueryBlock; ++i) most_[i] = T{-1e30}, sum_[i] = T{};
      std::memset(result_, 0, sizeof(T) * static_cast<std::size_t>(kQueryBlock * padded));
      for (Index k0 = 0; k0 < shape.sequence && visible(shape, q0 + count - 1, k0) > 0;
           k0 += kKeyBlock) {
        hold(shape, key, value, k0);
        for (Index r = 0; r < count; r += kQueryStrip) strip(shape, q0, r, k0, padded);
      }
      for (Index i = 0; i < count; ++i) {
        T* out = output + (q0 + i) * stride;
        const T inverse = T{1} / sum_[i];
        for (Index d = 0; d < shape.head_dim; ++d) out[d] = result_[i * padded + d] * inverse;
        log_sum[(q0 + i) * shape.heads] = most_[i] + std::log(sum_[i]);
      }
    }
  }

  /// Rows r .. r + kQueryStrip of the query block with the loaded key block.
  void strip(const AttentionShape& shape, Index q0, Index r, Index k0, Index padded) {
    const Index width = round_up<T>(visible(shape, q0 + r + kQueryStrip - 1, k0));
    if (width == 0) return;
    block_product<T, false>(kQueryStrip, width, shape.head_dim, {queries_ + r * padded, padded},
                            {keys_turned_, kKeyBlock}, {nullptr, 0, nullptr}, scores_, kKeyBlock);
    for (Index i = 0; i < kQueryStrip; ++i)
      soften(scores_ + i * kKeyBlock, visible(shape, q0 + r + i, k0), width, r + i,
             k0 > 0 ? padded : 0);
    T* result = result_ + r * padded;
    block_product<T, false>(kQueryStrip, padded, width, {scores_, kKeyBlock}, {values_, padded},
                            {result, padded, nullptr}, result, padded);
  }

  /// One row of scores becomes e^(score - largest so far), zero for masked keys. Rescales
  /// earlier sums for a new maximum (`columns` of them; 0: none).
  void soften(T* p, Index seen, Index width, Index row, Index columns) {
    if (seen == 0) {
      std::memset(p, 0, sizeof(T) * static_cast<std::size_t>(width));
      return;
    }
    Vec<T> top = Vec<T>{} + most_[row];
    for (Index j = 0; j < width; j += kWidth<T>) {
      const Vec<T> s = first_lanes<T>(load<T>(p + j), seen - j, T{-1e30});
      store<T>(p + j, s);
      top = larger<T>(top, s);
    }
    const T most = lane_max<T>(top);
    Vec<T> sum = {};
    for (Index j = 0; j < width; j += kWidth<T>) {
      const Vec<T> e = exponential(load<T>(p + j) - most);
      store<T>(p + j, e);
      sum += e;
    }
    const T shrink = columns > 0 ? exponential_of<T>(most_[row] - most) : T{};
    for (Index d = 0; d < columns; ++d) result_[row * columns + d] *= shrink;
    sum_[row] = sum_[row] * shrink + lane_sum<T>(sum);
    most_[row] = most;
  }

  void backward_block(const AttentionShape& shape, const AttentionBackward& what, Index sequence,
                      Index head, Index k0);
  void backward_strip(const AttentionShape& shape, Index q0, Index r, Index k0, const T* log_sum,
                      const T* row_sums, Index padded);
  void put_key_gradients(const AttentionShape& shape, const AttentionBackward& what, Index sequence,
                         Index kv, Index k0);
  static void sum_rows(const AttentionShape& shape, const AttentionBackward& what);

  static constexpr Index kBlock = kKeyBlock * kMaxHeadDim;
  Index held_ = -1;
  alignas(64) T queries_[kBlock], result_[kBlock], upper_[kBlock];
  alignas(64) T keys_[kBlock], keys_turned_[kBlock], values_[kBlock], values_turned_[kBlock];
  alignas(64) T key_gradient_[kBlock], value_gradient_[kBlock];
  alignas(64) T scores_[kQueryStrip * kKeyBlock], slopes_[kQueryStrip * kKeyBlock];
  T most_[kQueryBlock], sum_[kQueryBlock];
};

template <class T>
void Attention<T>::backward(const AttentionShape& shape, const AttentionBackward& what) {
  sum_rows(shape, what);
  const HeadOf<T> heads{shape};
  const Index group = shape.heads / shape.kv_heads;
  const Index padded = round_up<T>(shape.head_dim);
  for (Index s = 0; s < what.packed.rows / shape.sequence; ++s)
    for (Index kv = 0; kv < shape.kv_heads; ++kv) {
      held_ = -1;
      for (Index k0 = 0; k0 < shape.sequence; k0 += kKeyBlock) {
        hold(shape, heads.key(what.packed.as<T>(), s, kv), heads.value(what.packed.as<T>(), s, kv),
             k0);
        turn(values_, shape.head_dim, values_turned_);
        std::memset(key_gradient_, 0, sizeof(T) * static_cast<std::size_t>(kKeyBlock * padded));
        std::memset(value_gradient_, 0, sizeof(T) * static_cast<std::size_t>(kKeyBlock * padded));
        for (Index h = kv * group; h < (kv + 1) * group; ++h) backward_block(shape, what, s, h, k0);
        put_key_gradients(shape, what, s, kv, k0);
      }
    }
}

/// workspace = row sums of output x output_gradient by head.
template <class T>
void Attention<T>::sum_rows(const AttentionShape& shape, const AttentionBackward& what) {
  for (Index i = 0; i < what.packed.rows; ++i)
    for (Index h = 0; h < shape.heads; ++h) {
      const Index at = i * what.output.columns + h * shape.head_dim;
      const T *o = what.output.as<T>() + at, *g = what.output_gradient.as<T>() + at;
      what.workspace.as<T>()[i * shape.heads + h] =
          row_sum<T>(shape.head_dim, [=](auto lane) { return lane(o) * lane(g); });
    }
}

template <class T>
void Attention<T>::backward_block(const AttentionShape& shape, const AttentionBackward& what,
                                  Index sequence, Index head, Index k0) {
  const HeadOf<T> heads{shape};
  const Index padded = round_up<T>(shape.head_dim), dim = shape.head_dim;
  const Index wide = what.output.columns, row = sequence * shape.sequence;
  const Head<T> upper{what.output_gradient.as<T>() + row * wide + head * dim, wide, false};
  T* gradient = what.packed_gradient.as<T>() + heads.at(sequence, head);
  const T scale = scale_of(shape);
  for (Index q0 = shape.causal ? k0 / kQueryBlock * kQueryBlock : 0; q0 < shape.sequence;
       q0 += kQueryBlock) {
    const Index count = std::min(kQueryBlock, shape.sequence - q0);
    copy_rows(heads.query(what.packed.as<T>(), sequence, head), q0, count, kQueryBlock, dim, scale,
              queries_);
    copy_rows(upper, q0, count, kQueryBlock, dim, T{1}, upper_);
    const Index at = (row + q0) * shape.heads + head;
    const bool add = what.add || k0 > 0;  // every query starts with the first block of keys
    for (Index r = 0; r < count; r += kQueryStrip) {
      T* strip = result_ + r * padded;
      std::memset(strip, 0, sizeof(T) * static_cast<std::size_t>(kQueryStrip * padded));
      backward_strip(shape, q0, r, k0, what.log_sum.as<T>() + at, what.workspace.as<T>() + at,
                     padded);
    }
    for (Index i = 0; i < count; ++i) {
      T* to = gradient + (q0 + i) * heads.width;
      for (Index d = 0; d < dim; ++d) to[d] = (add ? to[d] : T{}) + scale * result_[i * padded + d];
    }
  }
}

template <class T>
void Attention<T>::backward_strip(const AttentionShape& shape, Index q0, Index r, Index k0,
                                  const T* log_sum, const T* row_sums, Index padded) {
  const Index width = round_up<T>(visible(shape, q0 + r + kQueryStrip - 1, k0));
  if (width == 0) return;
  const Operand<T> query{queries_ + r * padded, padded}, upper{upper_ + r * padded, padded};
  block_product<T, false>(kQueryStrip, width, shape.head_dim, query, {keys_turned_, kKeyBlock},
                          {nullptr, 0, nullptr}, scores_, kKeyBlock);
  block_product<T, false>(kQueryStrip, width, shape.head_dim, upper, {values_turned_, kKeyBlock},
                          {nullptr, 0, nullptr}, slopes_, kKeyBlock);
  for (Index i = 0; i < kQueryStrip; ++i) {
    T *p = scores_ + i * kKeyBlock, *d = slopes_ + i * kKeyBlock;
    const bool there = q0 + r + i < shape.sequence;
    const Index seen = there ? visible(shape, q0 + r + i, k0) : 0;
    const T log_of = there ? log_sum[(r + i) * shape.heads] : T{};
    const T shared = there ? row_sums[(r + i) * shape.heads] : T{};
    for (Index j = 0; j < width; j += kWidth<T>) {
      const Vec<T> s = first_lanes<T>(load<T>(p + j), seen - j, T{-1e30});
      const Vec<T> probability = exponential(s - log_of);
      store<T>(p + j, probability);
      store<T>(d + j, probability * (load<T>(d + j) - shared));
    }
  }
  T* result = result_ + r * padded;
  const Operand<T> share{scores_, kKeyBlock}, slope{slopes_, kKeyBlock};
  block_product<T, false>(kQueryStrip, padded, width, slope, {keys_, padded},
                          {result, padded, nullptr}, result, padded);
  block_product<T, true>(width, padded, kQueryStrip, slope, query, {key_gradient_, padded, nullptr},
                         key_gradient_, padded);
  block_product<T, true>(width, padded, kQueryStrip, share, upper,
                         {value_gradient_, padded, nullptr}, value_gradient_, padded);
}

template <class T>
void Attention<T>::put_key_gradients(const AttentionShape& shape, const AttentionBackward& what,
                                     Index sequence, Index kv, Index k0) {
  const HeadOf<T> heads{shape};
  const Index padded = round_up<T>(shape.head_dim);
  const Index count = std::min(kKeyBlock, shape.sequence - k0);
  const auto put = [&](Head<T> head, Index position, const T* from) {
    const T* row = head.row(position);
    if (!row) return;
    T* to = what.packed_gradient.as<T>() + (row - what.packed.as<T>());
    for (Index d = 0; d < shape.head_dim; ++d)
      to[d] = (what.add ? to[d] : T{}) + (from ? from[d] : T{});
  };
  Head<T> key = heads.key(what.packed.as<T>(), sequence, kv);
  const Head<T> value = heads.value(what.packed.as<T>(), sequence, kv);
  for (Index j = 0; j < count; ++j) {
    put(key, k0 + j, key_gradient_ + j * padded);
    put(value, k0 + j, value_gradient_ + j * padded);
  }
  // No query sees the last key of a shifted head.
  const bool last = k0 + count == shape.sequence;
  if (!last || !key.shifted) return;
  key.shifted = false;
  put(key, shape.sequence - 1, nullptr);
}

}  // namespace bench::training::BENCH_ISA

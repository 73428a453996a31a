// Attention in blocks with a running softmax (FlashAttention-2, arXiv 2307.08691) on one thread: no
// matrix larger than kQueryStrip x kKeyBlock exists. Sums run in one fixed order.
#pragma once

#include <cmath>

#include "probes/training/backends/host/attention_tiles.h"
#include "probes/training/backends/host/exponential.h"

namespace bench::training::BENCH_ISA {

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

  /// Rows r .. r + kQueryStrip of the query block against the key block that is held.
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
  /// earlier sums for a new maximum (`columns` of them; 0: none yet).
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

}  // namespace bench::training::BENCH_ISA

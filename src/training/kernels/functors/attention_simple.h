// Attention for any head size and type: a block of threads for each query (or key) of each head, a
// row of probabilities in shared memory. Every sum has a fixed order. Not fast: for f32, for head
// sizes that attention_flash.h does not support, and as its reference.
#pragma once

#include <math.h>

#include "training/kernels/functors/portable.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Position of heads in packed rows.
template <class T>
struct PackedHeads {
  T* packed;
  std::int64_t sequence, heads, kv_heads, dim, shifted, width;
  bool causal;

  BENCH_BOTH T* query(std::int64_t s, std::int64_t head, std::int64_t position) const {
    return packed + (s * sequence + position) * width + head * dim;
  }
  /// Null (zeros) for the first position of a shifted head.
  BENCH_BOTH T* key(std::int64_t s, std::int64_t kv, std::int64_t position) const {
    if (kv < shifted && position == 0) return nullptr;
    const std::int64_t row = kv < shifted ? position - 1 : position;
    return packed + (s * sequence + row) * width + (heads + kv) * dim;
  }
  BENCH_BOTH T* value(std::int64_t s, std::int64_t kv, std::int64_t position) const {
    return packed + (s * sequence + position) * width + (heads + kv_heads + kv) * dim;
  }
  BENCH_BOTH std::int64_t group() const { return heads / kv_heads; }
  /// Number of keys that the query at `position` sees.
  BENCH_BOTH std::int64_t seen(std::int64_t position) const {
    return causal ? position + 1 : sequence;
  }
};

template <class T>
PackedHeads<T> packed_heads(const AttentionShape& shape, T* packed) {
  return {packed,
          shape.sequence,
          shape.heads,
          shape.kv_heads,
          shape.head_dim,
          shape.shifted_kv_heads,
          shape.packed_columns(),
          shape.causal};
}

/// A query's head of two parts, and their log sums: AttentionKernels::join().
template <class T>
struct JoinAttention {
  const T* part;
  T* sum;
  const float* log_part;
  float* log_sum;
  std::int64_t dim;

  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    static_assert(width == 1);
    const float most = fmaxf(log_sum[i], log_part[i]);
    const float of_sum = expf(log_sum[i] - most), of_part = expf(log_part[i] - most);
    const float all = of_sum + of_part;
    const float keeps = of_sum / all, gains = of_part / all;
    for (std::int64_t d = i * dim; d < (i + 1) * dim; ++d)
      sum[d] =
          static_cast<T>(keeps * static_cast<float>(sum[d]) + gains * static_cast<float>(part[d]));
    log_sum[i] = most + logf(all);
  }
};

template <class T>
BENCH_BOTH float dot(const T* a, const T* b, std::int64_t n) {
  float sum = 0.0f;
  if (a)
    for (std::int64_t d = 0; d < n; ++d) sum += static_cast<float>(a[d]) * static_cast<float>(b[d]);
  return sum;
}

/// Block (row, head) of [rows, heads]; shared: as many floats as a sequence has positions.
template <class T>
struct SimpleAttentionForward {
  PackedHeads<const T> in;
  T* output;
  float* log_sum;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t head, float* scores) const {
    const std::int64_t s = row / in.sequence, position = row % in.sequence, kv = head / in.group();
    const std::int64_t seen = in.seen(position);
    const float scale = 1.0f / sqrtf(static_cast<float>(in.dim));
    const T* q = in.query(s, head, position);
    typename Block::template Per<float> most, sums;
    block.each([&](int thread) {
      most(thread) = -1e30f;
      for (std::int64_t j = thread; j < seen; j += Block::kThreads) {
        scores[j] = dot(in.key(s, kv, j), q, in.dim) * scale;
        most(thread) = fmaxf(most(thread), scores[j]);
      }
    });
    const float top = block.max(most);
    block.each([&](int thread) {
      sums(thread) = 0.0f;
      for (std::int64_t j = thread; j < seen; j += Block::kThreads)
        sums(thread) += scores[j] = expf(scores[j] - top);
    });
    const float sum = block.sum(sums);
    block.sync();
    block.each([&](int thread) {
      if (thread == 0) log_sum[row * in.heads + head] = top + logf(sum);
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads) {
        float value = 0.0f;
        for (std::int64_t j = 0; j < seen; ++j)
          value += scores[j] * static_cast<float>(in.value(s, kv, j)[d]);
        output[(row * in.heads + head) * in.dim + d] = T(value / sum);
      }
    });
    block.sync();
  }
};

/// Arguments of both backward passes.
template <class T>
struct AttentionGradients {
  PackedHeads<const T> in;
  const T *output, *output_gradient;
  const float* log_sum;
  float* row_sums;  // [rows, heads] of output x output_gradient
  T* packed_gradient;
  bool add;

  BENCH_BOTH void put(const T* of, std::int64_t d, float value) const {
    T* to = packed_gradient + (of - in.packed) + d;
    *to = T((add ? static_cast<float>(*to) : 0.0f) + value);
  }
};

/// row_sums, and the gradient of queries. Block (row, head); shared as above.
template <class T>
struct SimpleQueryGradient {
  AttentionGradients<T> of;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t head, float* slopes) const {
    const PackedHeads<const T>& in = of.in;
    const std::int64_t s = row / in.sequence, position = row % in.sequence, kv = head / in.group();
    const std::int64_t seen = in.seen(position), at = (row * in.heads + head) * in.dim;
    const float scale = 1.0f / sqrtf(static_cast<float>(in.dim));
    const T *q = in.query(s, head, position), *upper = of.output_gradient + at;
    const float row_sum = dot(of.output + at, upper, in.dim);
    const float log_of = of.log_sum[row * in.heads + head];
    block.each([&](int thread) {
      if (thread == 0) of.row_sums[row * in.heads + head] = row_sum;
      for (std::int64_t j = thread; j < seen; j += Block::kThreads) {
        const float p = expf(dot(in.key(s, kv, j), q, in.dim) * scale - log_of);
        slopes[j] = p * (dot(in.value(s, kv, j), upper, in.dim) - row_sum) * scale;
      }
    });
    block.sync();
    block.each([&](int thread) {
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads) {
        float gradient = 0.0f;
        for (std::int64_t j = 0; j < seen; ++j) {
          const T* key = in.key(s, kv, j);
          if (key) gradient += slopes[j] * static_cast<float>(key[d]);
        }
        of.put(q, d, gradient);
      }
    });
    block.sync();
  }
};

/// The gradients of keys and values, after row_sums are computed. Block (row, kv head); shared:
/// twice as many floats as a sequence has positions.
template <class T>
struct SimpleKeyGradient {
  AttentionGradients<T> of;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t kv, float* shared) const {
    const PackedHeads<const T>& in = of.in;
    const std::int64_t s = row / in.sequence, position = row % in.sequence;
    const std::int64_t first = in.causal ? position : 0, count = in.sequence - first;
    const float scale = 1.0f / sqrtf(static_cast<float>(in.dim));
    const T *key = in.key(s, kv, position), *value = in.value(s, kv, position);
    float *shares = shared, *slopes = shared + in.sequence;
    constexpr int kOwn = (256 + Block::kThreads - 1) / Block::kThreads;  // of a head of at most 256
    struct Own {
      float at[kOwn];
    };
    typename Block::template Per<Own> of_key, of_value;
    block.each([&](int thread) {
      for (int c = 0; c < kOwn; ++c) of_key(thread).at[c] = of_value(thread).at[c] = 0.0f;
    });
    for (std::int64_t head = kv * in.group(); head < (kv + 1) * in.group(); ++head) {
      block.each([&](int thread) {
        for (std::int64_t i = thread; i < count; i += Block::kThreads) {
          const std::int64_t query_row = s * in.sequence + first + i;
          const std::int64_t statistic = query_row * in.heads + head;
          const T* upper = of.output_gradient + statistic * in.dim;
          const float score = dot(key, in.query(s, head, first + i), in.dim) * scale;
          shares[i] = expf(score - of.log_sum[statistic]);
          slopes[i] = shares[i] * (dot(value, upper, in.dim) - of.row_sums[statistic]) * scale;
        }
      });
      block.sync();
      block.each([&](int thread) {
        int c = 0;
        for (std::int64_t d = thread; d < in.dim; d += Block::kThreads, ++c)
          for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t statistic = (s * in.sequence + first + i) * in.heads + head;
            of_key(thread).at[c] += slopes[i] * static_cast<float>(in.query(s, head, first + i)[d]);
            of_value(thread).at[c] +=
                shares[i] * static_cast<float>(of.output_gradient[statistic * in.dim + d]);
          }
      });
      block.sync();
    }
    // No query sees the last key of a shifted head.
    const bool unseen = kv < in.shifted && position == in.sequence - 1;
    const T* last = in.packed + row * in.width + (in.heads + kv) * in.dim;
    block.each([&](int thread) {
      int c = 0;
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads, ++c) {
        if (key) of.put(key, d, of_key(thread).at[c]);
        of.put(value, d, of_value(thread).at[c]);
        if (unseen) of.put(last, d, 0.0f);
      }
    });
  }
};

}  // namespace bench::training

// The group of hierarchical sequential transduction units; see functor_kernels.h. Attention is as
// simple as attention_simple.h: a block of threads for each query (or key) of each head, every sum
// in a fixed order, not fast.
#pragma once

#include <math.h>

#include "training/kernels/functors/attention_simple.h"
#include "training/kernels/functors/functor_norm.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/hstu_kernels.h"

namespace bench::training {

struct Silu {
  static BENCH_BOTH float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
  static BENCH_BOTH float of(float x) { return x * sigmoid(x); }
  static BENCH_BOTH float slope(float x) {
    const float s = sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
  }
};

template <class T>
struct SiluElements {
  const T* x;
  T* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(x + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) pack.at[k] = T(Silu::of(static_cast<float>(pack.at[k])));
    store_pack(y + i, pack);
  }
};

template <class T>
struct SiluGradient {
  const T *x, *y_gradient;
  T* x_gradient;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto in = load_pack<width>(x + i), dy = load_pack<width>(y_gradient + i);
    auto sum = load_if<width>(add, x_gradient + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] = T(static_cast<float>(sum.at[k]) +
                    static_cast<float>(dy.at[k]) * Silu::slope(static_cast<float>(in.at[k])));
    store_pack(x_gradient + i, sum);
  }
};

/// The gate: y = x u, and its gradients. Column: of x, or of the packed row for that of u.
template <class T>
struct HstuGate {
  const T *x, *packed;
  T* y;
  std::int64_t n, wide;  // columns of x and of packed rows
  bool add;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const auto in = load_pack<width>(x + row * n + column);
    const auto u = load_pack<width>(packed + row * wide + column);
    auto sum = load_if<width>(add, y + row * n + column);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] = T(static_cast<float>(sum.at[k]) +
                    static_cast<float>(in.at[k]) * static_cast<float>(u.at[k]));
    store_pack(y + row * n + column, sum);
  }
};

template <class T>
struct HstuGateGradient {
  const T *x, *y_gradient;
  T* packed_gradient;
  std::int64_t n, wide;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return add ? n : wide; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    T* to = packed_gradient + row * wide + column;
    auto sum = load_if<width>(add, to);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      if (column + k >= n) continue;
      const std::int64_t i = row * n + column + k;
      sum.at[k] = T(static_cast<float>(sum.at[k]) +
                    static_cast<float>(x[i]) * static_cast<float>(y_gradient[i]));
    }
    store_pack(to, sum);
  }
};

/// The arguments of all bodies of the attention.
template <class T>
struct HstuHeads {
  const T *packed, *position_bias, *time_bias;
  const std::int32_t *lengths, *times;
  std::int64_t sequence, heads, dim, buckets;

  enum Part : std::int64_t { kU, kV, kQ, kK };
  BENCH_BOTH std::int64_t width() const { return heads * dim; }
  BENCH_BOTH std::int64_t place(Part part, std::int64_t row, std::int64_t head) const {
    return row * 4 * width() + part * width() + head * dim;
  }
  BENCH_BOTH const T* at(Part part, std::int64_t row, std::int64_t head) const {
    return packed + place(part, row, head);
  }
  BENCH_BOTH std::int64_t length(std::int64_t s) const {
    const std::int64_t asked = lengths[s];
    return asked < 0 ? 0 : asked < sequence ? asked : sequence;
  }
  BENCH_BOTH std::int64_t bucket(std::int64_t row, std::int64_t earlier) const {
    return time_bucket(times[row] - times[earlier], buckets);
  }
  /// z of two rows of one sequence.
  BENCH_BOTH float score(std::int64_t row, std::int64_t earlier, std::int64_t head) const {
    return dot(at(kQ, row, head), at(kK, earlier, head), dim) / sqrtf(static_cast<float>(dim)) +
           static_cast<float>(position_bias[head * sequence + row - earlier]) +
           static_cast<float>(time_bias[head * buckets + bucket(row, earlier)]);
  }
};

/// Block (row, head); shared: as many floats as a sequence has rows.
template <class T>
struct HstuForward {
  HstuHeads<T> in;
  T* output;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t head, float* weights) const {
    const std::int64_t s = row / in.sequence, first = s * in.sequence;
    const std::int64_t seen = row - first < in.length(s) ? row - first + 1 : 0;
    const float share = 1.0f / static_cast<float>(in.sequence);
    block.each([&](int thread) {
      for (std::int64_t j = thread; j < seen; j += Block::kThreads)
        weights[j] = Silu::of(in.score(row, first + j, head)) * share;
    });
    block.sync();
    block.each([&](int thread) {
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads) {
        float value = 0.0f;
        for (std::int64_t j = 0; j < seen; ++j)
          value += weights[j] * static_cast<float>(in.at(in.kV, first + j, head)[d]);
        output[(row * in.heads + head) * in.dim + d] = T(value);
      }
    });
    block.sync();
  }
};

/// Arguments of the backward bodies.
template <class T>
struct HstuGradients {
  HstuHeads<T> in;
  const T* output_gradient;
  T* packed_gradient;
  float* time_slopes;  // [rows, heads x buckets]
  bool add;

  /// The derivative of z of two rows.
  BENCH_BOTH float slope(std::int64_t row, std::int64_t earlier, std::int64_t head) const {
    const T* upper = output_gradient + (row * in.heads + head) * in.dim;
    return Silu::slope(in.score(row, earlier, head)) *
           dot(in.at(in.kV, earlier, head), upper, in.dim) / static_cast<float>(in.sequence);
  }
  BENCH_BOTH void put(std::int64_t at, float value) const {
    T* to = packed_gradient + at;
    *to = T((add ? static_cast<float>(*to) : 0.0f) + value);
  }
};

/// The gradient of queries, zeros for u, and each row's part of that of time_bias. Block (row,
/// head); shared as above.
template <class T>
struct HstuQueryGradient {
  HstuGradients<T> of;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t head, float* slopes) const {
    const HstuHeads<T>& in = of.in;
    const std::int64_t s = row / in.sequence, first = s * in.sequence;
    const std::int64_t seen = row - first < in.length(s) ? row - first + 1 : 0;
    const float scale = 1.0f / sqrtf(static_cast<float>(in.dim));
    block.each([&](int thread) {
      for (std::int64_t j = thread; j < seen; j += Block::kThreads)
        slopes[j] = of.slope(row, first + j, head);
    });
    block.sync();
    block.each([&](int thread) {
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads) {
        float gradient = 0.0f;
        for (std::int64_t j = 0; j < seen; ++j)
          gradient += slopes[j] * static_cast<float>(in.at(in.kK, first + j, head)[d]);
        of.put(in.place(in.kQ, row, head) + d, gradient * scale);
        of.put(in.place(in.kU, row, head) + d, 0.0f);
      }
      for (std::int64_t b = thread; b < in.buckets; b += Block::kThreads) {
        float sum = 0.0f;
        for (std::int64_t j = 0; j < seen; ++j)
          if (in.bucket(row, first + j) == b) sum += slopes[j];
        of.time_slopes[(row * in.heads + head) * in.buckets + b] = sum;
      }
    });
    block.sync();
  }
};

/// The gradients of keys and values. Block (row, head); shared: twice as many floats as a sequence
/// has rows.
template <class T>
struct HstuKeyGradient {
  HstuGradients<T> of;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t head, float* shared) const {
    const HstuHeads<T>& in = of.in;
    const std::int64_t s = row / in.sequence, end = s * in.sequence + in.length(s);
    const float share = 1.0f / static_cast<float>(in.sequence);
    const float scale = 1.0f / sqrtf(static_cast<float>(in.dim));
    float *weights = shared, *slopes = shared + in.sequence;
    block.each([&](int thread) {
      for (std::int64_t i = row + thread; i < end; i += Block::kThreads) {
        weights[i - row] = Silu::of(in.score(i, row, head)) * share;
        slopes[i - row] = of.slope(i, row, head);
      }
    });
    block.sync();
    block.each([&](int thread) {
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads) {
        float of_key = 0.0f, of_value = 0.0f;
        for (std::int64_t i = row; i < end; ++i) {
          of_key += slopes[i - row] * static_cast<float>(in.at(in.kQ, i, head)[d]);
          of_value += weights[i - row] *
                      static_cast<float>(of.output_gradient[(i * in.heads + head) * in.dim + d]);
        }
        of.put(in.place(in.kK, row, head) + d, of_key * scale);
        of.put(in.place(in.kV, row, head) + d, of_value);
      }
    });
    block.sync();
  }
};

/// The gradient of position_bias. Block (distance, head).
template <class T>
struct HstuPositionGradient {
  HstuGradients<T> of;
  T* position_gradient;
  std::int64_t sequences;
  bool add;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t distance, std::int64_t head, float*) const {
    const HstuHeads<T>& in = of.in;
    typename Block::template Per<float> sums;
    block.each([&](int thread) {
      sums(thread) = 0.0f;
      for (std::int64_t s = 0; s < sequences; ++s) {
        const std::int64_t first = s * in.sequence, end = first + in.length(s);
        for (std::int64_t i = first + distance + thread; i < end; i += Block::kThreads)
          sums(thread) += of.slope(i, i - distance, head);
      }
    });
    const float sum = block.sum(sums);
    block.each([&](int thread) {
      if (thread != 0) return;
      T* to = position_gradient + head * in.sequence + distance;
      *to = T((add ? static_cast<float>(*to) : 0.0f) + sum);
    });
  }
};

template <class T>
struct EventLosses {
  T* logits;
  const std::int32_t* labels;
  double* losses;
  float gradient_scale;  // 0: losses alone
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    for (std::int64_t row = i; row < i + width; ++row) {
      const float score = static_cast<float>(logits[row]);
      const auto label = static_cast<float>(labels[row]);
      const float smaller = expf(-fabsf(score));  // cannot overflow
      const bool counts = labels[row] >= 0;
      losses[row] = counts ? static_cast<double>((score > 0.0f ? score : 0.0f) - label * score) +
                                 log1p(static_cast<double>(smaller))
                           : 0.0;
      if (gradient_scale == 0.0f) continue;
      const float p = (score < 0.0f ? smaller : 1.0f) / (1.0f + smaller);
      logits[row] = T(counts ? gradient_scale * (p - label) : 0.0f);
    }
  }
};

template <class T, class Launch>
class FunctorHstu final : public HstuKernels {
 public:
  explicit FunctorHstu(Launch launch) : launch_(launch) {}
  void silu(View x, View y) override {
    launch_.template elements<kWidest<T>>(SiluElements<T>{x.as<T>(), y.as<T>()}, x.elements());
  }
  void silu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    launch_.template elements<kWidest<T>>(
        SiluGradient<T>{x.as<T>(), y_gradient.as<T>(), x_gradient.as<T>(), add}, x.elements());
  }
  void attention(const HstuAttentionShape& shape, const HstuInputs& in, View output) override {
    launch_.units(HstuForward<T>{heads_of(shape, in), output.as<T>()}, in.packed.rows, shape.heads,
                  bytes_of(shape));
  }
  void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) override {
    const std::int64_t rows = what.in.packed.rows, sums = shape.heads * shape.buckets;
    auto* slopes = static_cast<float*>(launch_.scratch(rows * sums * std::int64_t{sizeof(float)}));
    const HstuGradients<T> of{heads_of(shape, what.in), what.output_gradient.as<T>(),
                              what.packed_gradient.as<T>(), slopes, what.add_packed};
    launch_.units(HstuQueryGradient<T>{of}, rows, shape.heads, bytes_of(shape));
    launch_.units(HstuKeyGradient<T>{of}, rows, shape.heads, 2 * bytes_of(shape));
    launch_.units(HstuPositionGradient<T>{of, what.position_gradient.as<T>(), what.in.lengths.rows,
                                          what.add_position},
                  shape.sequence, shape.heads, 0);
    launch_.units(SumOfParts<T>{slopes, what.time_gradient.as<T>(), rows, sums, what.add_time},
                  sums, 1, 0);
  }
  void gate(View x, View packed, View y) override { product(x, packed, y, false); }
  void gate_backward(const HstuGateBackward& what) override {
    if (what.packed_gradient)
      launch_.template rows<kWidest<T>>(
          HstuGateGradient<T>{what.x.as<T>(), what.y_gradient.as<T>(), what.packed_gradient.as<T>(),
                              what.x.columns, what.packed.columns, what.add_packed},
          what.x.rows);
    if (what.x_gradient) product(what.y_gradient, what.packed, what.x_gradient, what.add_x);
  }
  void event_losses(View logits, View labels, double gradient_scale, View losses) override {
    launch_.template elements<1>(
        EventLosses<T>{logits.as<T>(), labels.as<std::int32_t>(), losses.as<double>(),
                       static_cast<float>(gradient_scale)},
        logits.rows);
  }

 private:
  static HstuHeads<T> heads_of(const HstuAttentionShape& shape, const HstuInputs& in) {
    return {in.packed.as<T>(),
            in.position_bias.as<T>(),
            in.time_bias.as<T>(),
            in.lengths.as<std::int32_t>(),
            in.times.as<std::int32_t>(),
            shape.sequence,
            shape.heads,
            shape.head_dim,
            shape.buckets};
  }
  static std::int64_t bytes_of(const HstuAttentionShape& shape) {
    return shape.sequence * std::int64_t{sizeof(float)};
  }
  void product(View x, View packed, View y, bool add) {
    launch_.template rows<kWidest<T>>(
        HstuGate<T>{x.as<T>(), packed.as<T>(), y.as<T>(), x.columns, packed.columns, add}, x.rows);
  }
  Launch launch_;
};

}  // namespace bench::training

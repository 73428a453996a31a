// HSTU's attention, its gate and the losses of actions on a CPU. Scores are made in blocks, as
// those of attention_backward_host.h, without a running maximum: SiLU needs none.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "training/host/attention_backward_host.h"
#include "training/host/exponential.h"
#include "training/kernels/hstu_kernels.h"

namespace bench::training::BENCH_ISA {

template <class T>
inline __attribute__((always_inline)) Vec<T> sigmoid_of(Vec<T> x) {
  return T{1} / (T{1} + exponential(-x));
}

template <class T>
class Hstu final : public HstuKernels {
 public:
  void silu(View x, View y) override {
    const T* in = x.as<T>();
    T* out = y.as<T>();
    each_vector<T>(x.elements(), [=](auto at) { at.put(out, at(in) * sigmoid_of<T>(at(in))); });
  }

  void silu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    const T *in = x.as<T>(), *dy = y_gradient.as<T>();
    T* dx = x_gradient.as<T>();
    each_vector<T>(x.elements(), [=](auto at) {
      const Vec<T> s = sigmoid_of<T>(at(in));
      const Vec<T> d = at(dy) * slope_of_silu(at(in), s);
      at.put(dx, add ? at(dx) + d : d);
    });
  }

  void attention(const HstuAttentionShape& shape, const HstuInputs& in, View output) override {
    const Index padded = round_up<T>(shape.head_dim);
    for (Index s = 0; s < in.lengths.rows; ++s) {
      const Sequence of(shape, in, s);
      T* out = output.as<T>() + of.first_row * output.columns;
      std::fill_n(out + of.length * output.columns, (shape.sequence - of.length) * output.columns,
                  T{});
      for (Index h = 0; h < shape.heads; ++h)
        for (Index q0 = 0; q0 < of.length; q0 += kQueryBlock) {
          const Index count = std::min(kQueryBlock, of.length - q0);
          copy_rows(of.head(kQ, h), q0, count, kQueryBlock, shape.head_dim, scale_of(shape),
                    queries_);
          std::memset(result_, 0, sizeof(T) * static_cast<std::size_t>(kQueryBlock * padded));
          for (Index k0 = 0; k0 < q0 + count; k0 += kKeyBlock) {
            hold(of, h, k0);
            for (Index r = 0; r < count; r += kQueryStrip) strip(of, h, q0, r, k0);
          }
          for (Index i = 0; i < count; ++i)
            std::copy_n(result_ + i * padded, shape.head_dim,
                        out + (q0 + i) * output.columns + h * shape.head_dim);
        }
    }
  }

  void attention_backward(const HstuAttentionShape& shape, const HstuBackward& what) override {
    zero_unless<T>(what.add_position, what.position_gradient);
    zero_unless<T>(what.add_time, what.time_gradient);
    zero_unless<T>(what.add_packed, what.packed_gradient);
    for (Index s = 0; s < what.in.lengths.rows; ++s) {
      const Sequence of(shape, what.in, s);
      for (Index h = 0; h < shape.heads; ++h)
        for (Index k0 = 0; k0 < of.length; k0 += kKeyBlock) key_block(of, what, h, k0);
    }
  }

  void gate(View x, View packed, View y) override {
    for (Index i = 0; i < x.rows; ++i) {
      const T *in = x.as<T>() + i * x.columns, *u = packed.as<T>() + i * packed.columns;
      T* out = y.as<T>() + i * x.columns;
      each_vector<T>(x.columns, [=](auto at) { at.put(out, at(in) * at(u)); });
    }
  }

  void gate_backward(const HstuGateBackward& what) override {
    const Index n = what.x.columns, wide = what.packed.columns;
    if (what.packed_gradient) zero_unless<T>(what.add_packed, what.packed_gradient);
    for (Index i = 0; i < what.x.rows; ++i) {
      const T *dy = what.y_gradient.as<T>() + i * n, *x = what.x.as<T>() + i * n;
      const T* u = what.packed.as<T>() + i * wide;
      if (what.packed_gradient) {
        T* du = what.packed_gradient.as<T>() + i * wide;
        each_vector<T>(n, [=](auto at) { at.put(du, at(du) + at(dy) * at(x)); });
      }
      if (!what.x_gradient) continue;
      T* dx = what.x_gradient.as<T>() + i * n;
      each_vector<T>(n, [=, add = what.add_x](auto at) {
        const Vec<T> d = at(dy) * at(u);
        at.put(dx, add ? at(dx) + d : d);
      });
    }
  }

  void event_losses(View logits, View labels, double gradient_scale, View losses) override {
    for (Index i = 0; i < logits.rows; ++i) {
      T& z = logits.as<T>()[i];
      const std::int32_t label = labels.as<std::int32_t>()[i];
      const double score = static_cast<double>(z);
      const double smaller = std::exp(-std::abs(score));  // cannot overflow
      losses.as<double>()[i] =
          label < 0 ? 0.0 : std::max(score, 0.0) - label * score + std::log1p(smaller);
      if (gradient_scale == 0.0) continue;
      const double p = (score < 0.0 ? smaller : 1.0) / (1.0 + smaller);
      z = label < 0 ? T{} : static_cast<T>(gradient_scale * (p - label));
    }
  }

 private:
  enum Part : Index { kU, kV, kQ, kK };

  static inline __attribute__((always_inline)) Vec<T> slope_of_silu(Vec<T> x, Vec<T> sigmoid) {
    return sigmoid * (T{1} + x * (T{1} - sigmoid));
  }
  static T scale_of(const HstuAttentionShape& shape) {
    return T{1} / std::sqrt(static_cast<T>(shape.head_dim));
  }

  /// One sequence of the batch.
  struct Sequence {
    const HstuAttentionShape& shape;
    Index first_row, length, wide;
    const T *packed, *position_bias, *time_bias;
    const std::int32_t* times;

    Sequence(const HstuAttentionShape& of, const HstuInputs& in, Index s)
        : shape(of),
          first_row(s * of.sequence),
          length(std::clamp<Index>(in.lengths.as<std::int32_t>()[s], 0, of.sequence)),
          wide(of.packed_columns()),
          packed(in.packed.as<T>() + first_row * wide),
          position_bias(in.position_bias.as<T>()),
          time_bias(in.time_bias.as<T>()),
          times(in.times.as<std::int32_t>() + first_row) {}

    Index column(Part part, Index h) const { return part * shape.width() + h * shape.head_dim; }
    Head<T> head(Part part, Index h) const { return {packed + column(part, h), wide, false}; }
    /// Of the block at `first_key`: keys that the event at `position` sees.
    Index sees(Index position, Index first_key) const {
      if (position >= length) return 0;
      return std::clamp<Index>(position + 1 - first_key, 0, kKeyBlock);
    }
    Index bucket(Index i, Index j) const { return time_bucket(times[i] - times[j], shape.buckets); }
  };

  /// Loads the block of keys and values at `first`.
  void hold(const Sequence& of, Index h, Index first) {
    const Index count = std::min(kKeyBlock, of.length - first), dim = of.shape.head_dim;
    copy_rows(of.head(kK, h), first, count, kKeyBlock, dim, T{1}, keys_);
    turn(keys_, dim, keys_turned_);
    copy_rows(of.head(kV, h), first, count, kKeyBlock, dim, T{1}, values_);
  }

  /// z of rows r .. r + kQueryStrip of the query block with the loaded keys, biases included.
  /// Returns its columns, a multiple of the vector width.
  Index scores(const Sequence& of, Index h, Index q0, Index r, Index k0) {
    const Index last = std::min(q0 + r + kQueryStrip, of.length) - 1;
    const Index width = last < q0 + r ? 0 : round_up<T>(of.sees(last, k0));
    if (width == 0) return 0;
    const Index padded = round_up<T>(of.shape.head_dim);
    block_product<T, false>(kQueryStrip, width, of.shape.head_dim, {queries_ + r * padded, padded},
                            {keys_turned_, kKeyBlock}, {nullptr, 0, nullptr}, scores_, kKeyBlock);
    const T* by_distance = of.position_bias + h * of.shape.sequence;
    const T* by_time = of.time_bias + h * of.shape.buckets;
    for (Index i = 0; i < kQueryStrip; ++i) {
      const Index position = q0 + r + i;
      T* z = scores_ + i * kKeyBlock;
      for (Index j = 0; j < of.sees(position, k0); ++j)
        z[j] += by_distance[position - k0 - j] + by_time[of.bucket(position, k0 + j)];
    }
    return width;
  }

  void strip(const Sequence& of, Index h, Index q0, Index r, Index k0) {
    const Index width = scores(of, h, q0, r, k0), padded = round_up<T>(of.shape.head_dim);
    if (width == 0) return;
    const T share = T{1} / static_cast<T>(of.shape.sequence);
    for (Index i = 0; i < kQueryStrip; ++i) {
      T* z = scores_ + i * kKeyBlock;
      const Index seen = of.sees(q0 + r + i, k0);
      for (Index j = 0; j < width; j += kWidth<T>) {
        const Vec<T> x = first_lanes<T>(load<T>(z + j), seen - j, T{});
        store<T>(z + j, share * x * sigmoid_of<T>(x));
      }
    }
    T* result = result_ + r * padded;
    block_product<T, false>(kQueryStrip, padded, width, {scores_, kKeyBlock}, {values_, padded},
                            {result, padded, nullptr}, result, padded);
  }

  /// Gradients that go through a block of keys and values.
  void key_block(const Sequence& of, const HstuBackward& what, Index h, Index k0) {
    const HstuAttentionShape& shape = of.shape;
    const Index dim = shape.head_dim, padded = round_up<T>(dim),
                wide = what.output_gradient.columns;
    const std::size_t bytes = sizeof(T) * static_cast<std::size_t>(kKeyBlock * padded);
    hold(of, h, k0);
    turn(values_, dim, values_turned_);
    std::memset(key_gradient_, 0, bytes);
    std::memset(value_gradient_, 0, bytes);
    const Head<T> upper{what.output_gradient.as<T>() + of.first_row * wide + h * dim, wide, false};
    T* gradient = what.packed_gradient.as<T>() + of.first_row * of.wide;
    const auto add_to = [&](Part part, Index position, const T* from, T factor) {
      T* to = gradient + position * of.wide + of.column(part, h);
      for (Index d = 0; d < dim; ++d) to[d] += factor * from[d];
    };
    for (Index q0 = k0 / kQueryBlock * kQueryBlock; q0 < of.length; q0 += kQueryBlock) {
      const Index count = std::min(kQueryBlock, of.length - q0);
      copy_rows(of.head(kQ, h), q0, count, kQueryBlock, dim, scale_of(shape), queries_);
      copy_rows(upper, q0, count, kQueryBlock, dim, T{1}, upper_);
      for (Index r = 0; r < count; r += kQueryStrip) backward_strip(of, what, h, q0, r, k0);
      for (Index i = 0; i < count; ++i) add_to(kQ, q0 + i, result_ + i * padded, scale_of(shape));
    }
    for (Index j = 0; j < std::min(kKeyBlock, of.length - k0); ++j) {
      add_to(kK, k0 + j, key_gradient_ + j * padded, T{1});
      add_to(kV, k0 + j, value_gradient_ + j * padded, T{1});
    }
  }

  /// Leaves the rows of the queries' gradient in result_, without its scale.
  void backward_strip(const Sequence& of, const HstuBackward& what, Index h, Index q0, Index r,
                      Index k0) {
    const HstuAttentionShape& shape = of.shape;
    const Index padded = round_up<T>(shape.head_dim);
    T* result = result_ + r * padded;
    std::memset(result, 0, sizeof(T) * static_cast<std::size_t>(kQueryStrip * padded));
    const Index width = scores(of, h, q0, r, k0);
    if (width == 0) return;
    const Operand<T> query{queries_ + r * padded, padded}, upper{upper_ + r * padded, padded};
    block_product<T, false>(kQueryStrip, width, shape.head_dim, upper, {values_turned_, kKeyBlock},
                            {nullptr, 0, nullptr}, slopes_, kKeyBlock);
    const T share = T{1} / static_cast<T>(shape.sequence);
    T* by_distance = what.position_gradient.as<T>() + h * shape.sequence;
    T* by_time = what.time_gradient.as<T>() + h * shape.buckets;
    for (Index i = 0; i < kQueryStrip; ++i) {
      const Index position = q0 + r + i, seen = of.sees(position, k0);
      T *z = scores_ + i * kKeyBlock, *d = slopes_ + i * kKeyBlock;
      for (Index j = 0; j < width; j += kWidth<T>) {
        const Vec<T> x = first_lanes<T>(load<T>(z + j), seen - j, T{});
        const Vec<T> s = sigmoid_of<T>(x);
        store<T>(z + j, share * x * s);
        store<T>(d + j,
                 first_lanes<T>(load<T>(d + j) * share * slope_of_silu(x, s), seen - j, T{}));
      }
      for (Index j = 0; j < seen; ++j) {
        by_distance[position - k0 - j] += d[j];
        by_time[of.bucket(position, k0 + j)] += d[j];
      }
    }
    const Operand<T> weight{scores_, kKeyBlock}, slope{slopes_, kKeyBlock};
    block_product<T, false>(kQueryStrip, padded, width, slope, {keys_, padded},
                            {result, padded, nullptr}, result, padded);
    block_product<T, true>(width, padded, kQueryStrip, slope, query,
                           {key_gradient_, padded, nullptr}, key_gradient_, padded);
    block_product<T, true>(width, padded, kQueryStrip, weight, upper,
                           {value_gradient_, padded, nullptr}, value_gradient_, padded);
  }

  static constexpr Index kBlock = kKeyBlock * kMaxHeadDim;
  alignas(64) T queries_[kBlock], result_[kBlock], upper_[kBlock];
  alignas(64) T keys_[kBlock], keys_turned_[kBlock], values_[kBlock], values_turned_[kBlock];
  alignas(64) T key_gradient_[kBlock], value_gradient_[kBlock];
  alignas(64) T scores_[kQueryStrip * kKeyBlock], slopes_[kQueryStrip * kKeyBlock];
};

}  // namespace bench::training::BENCH_ISA

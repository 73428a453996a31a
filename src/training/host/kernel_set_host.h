// All kernel groups for one element type and thread.
#pragma once

#include <cmath>

#include "training/host/attention_backward_host.h"
#include "training/host/classifier_host.h"
#include "training/host/convolution_host.h"
#include "training/host/detection_host.h"
#include "training/host/diffusion_host.h"
#include "training/host/experts_host.h"
#include "training/host/gemm_host.h"
#include "training/host/hstu_host.h"
#include "training/host/neighbour_host.h"
#include "training/host/policy_host.h"
#include "training/host/simple_host.h"
#include "training/host/vector.h"
#include "training/host/vocabulary_host.h"
#include "training/kernels/checked_id.h"
#include "training/kernels/kernel_set.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Norm final : public NormKernels {
 public:
  void rms_forward(View x, View gain, double epsilon, View y, View statistics) override {
    const Index n = x.columns;
    const T* g = gain.as<T>();
    for (Index i = 0; i < x.rows; ++i) {
      const T* in = x.as<T>() + i * n;
      const T square = row_sum<T>(n, [in](auto at) { return at(in) * at(in); });
      const T r = T{1} / std::sqrt(square / static_cast<T>(n) + static_cast<T>(epsilon));
      statistics.as<T>()[i] = r;
      T* out = y.as<T>() + i * n;
      for (Index j = 0; j < n; ++j) out[j] = in[j] * r * g[j];
    }
  }

  void rms_backward(const NormBackward& what) override {
    zero_unless<T>(what.add_gain, what.gain_gradient);
    const Index n = what.x.columns;
    const T* g = what.gain.as<T>();
    T* __restrict dg = what.gain_gradient.as<T>();
    for (Index i = 0; i < what.x.rows; ++i) {
      const T* in = what.x.as<T>() + i * n;
      const T* dy = what.output_gradient.as<T>() + i * n;
      const T r = what.statistics.as<T>()[i];
      if (dg)
        for (Index j = 0; j < n; ++j) dg[j] += dy[j] * in[j] * r;
      const T dot = row_sum<T>(n, [=](auto at) { return at(dy) * at(g) * at(in); });
      const T mean = dot * r * r * r / static_cast<T>(n);
      T* dx = what.input_gradient.as<T>() + i * n;
      if (what.add_input)
        for (Index j = 0; j < n; ++j) dx[j] += dy[j] * g[j] * r - in[j] * mean;
      else
        for (Index j = 0; j < n; ++j) dx[j] = dy[j] * g[j] * r - in[j] * mean;
    }
  }

  void layer_forward(View x, View gain, View bias, double epsilon, View y,
                     View statistics) override {
    const Index n = x.columns;
    const T *g = gain.as<T>(), *b = bias.as<T>();
    for (Index i = 0; i < x.rows; ++i) {
      const T* in = x.as<T>() + i * n;
      const T mean = row_sum<T>(n, [in](auto at) { return at(in); }) / static_cast<T>(n);
      const T square = row_sum<T>(n, [=](auto at) {  // E[x^2] - mean^2 would cancel
        const Vec<T> difference = first_lanes<T>(at(in) - mean, at.count, T{});
        return difference * difference;
      });
      const T r = T{1} / std::sqrt(square / static_cast<T>(n) + static_cast<T>(epsilon));
      statistics.as<T>()[2 * i] = mean;
      statistics.as<T>()[2 * i + 1] = r;
      T* out = y.as<T>() + i * n;
      for (Index j = 0; j < n; ++j) out[j] = (in[j] - mean) * r * g[j] + b[j];
    }
  }

  void layer_backward(const NormBackward& what) override {
    zero_unless<T>(what.add_gain, what.gain_gradient);
    zero_unless<T>(what.add_bias, what.bias_gradient);
    const Index n = what.x.columns;
    const T* g = what.gain.as<T>();
    T* __restrict dg = what.gain_gradient.as<T>();
    T* __restrict db = what.bias_gradient.as<T>();
    for (Index i = 0; i < what.x.rows; ++i) {
      const T* in = what.x.as<T>() + i * n;
      const T* dy = what.output_gradient.as<T>() + i * n;
      const T mean = what.statistics.as<T>()[2 * i], r = what.statistics.as<T>()[2 * i + 1];
      if (dg)
        for (Index j = 0; j < n; ++j) dg[j] += dy[j] * (in[j] - mean) * r;
      if (db)
        for (Index j = 0; j < n; ++j) db[j] += dy[j];
      const T sum = row_sum<T>(n, [=](auto at) { return at(dy) * at(g); });
      const T dot = row_sum<T>(n, [=](auto at) { return at(dy) * at(g) * at(in); });
      const T of_x = (dot - sum * mean) * r * r * r / static_cast<T>(n);
      const T of_mean = sum * r / static_cast<T>(n);
      T* dx = what.input_gradient.as<T>() + i * n;
      for (Index j = 0; j < n; ++j) {
        const T d = dy[j] * g[j] * r - (in[j] - mean) * of_x - of_mean;
        dx[j] = what.add_input ? dx[j] + d : d;
      }
    }
  }
};

template <class T>
class Rope final : public RopeKernels {
 public:
  void rotate(const AttentionShape& shape, bool back, View x, View angles, View y,
              bool add) override {
    switch (shape.head_dim / 2) {  // a constant length lets the compiler unroll a head
      case 8:
        return rows<8>(shape, back, x, angles, y, add);
      case 16:
        return rows<16>(shape, back, x, angles, y, add);
      case 32:
        return rows<32>(shape, back, x, angles, y, add);
      case 64:
        return rows<64>(shape, back, x, angles, y, add);
      default:
        return rows<0>(shape, back, x, angles, y, add);
    }
  }

 private:
  template <int known_half>
  static void rows(const AttentionShape& shape, bool back, View x, View angles, View y, bool add) {
    const Index half = known_half > 0 ? known_half : shape.head_dim / 2;
    const Index rotated = shape.heads + shape.kv_heads;
    const T sign = back ? T{-1} : T{1};
    const T keep = add ? T{1} : T{0};
    for (Index i = 0; i < x.rows; ++i) {
      const T* in = x.as<T>() + i * x.columns;
      T* out = y.as<T>() + i * x.columns;
      const T* cosine = angles.as<T>() + (i % shape.sequence) * 2 * half;
      for (Index h = 0; h < rotated; ++h)
        head<known_half>(half, sign, in + h * 2 * half, cosine, out + h * 2 * half, keep);
      if (in == out) continue;
      for (Index j = rotated * 2 * half; j < x.columns; ++j) out[j] = add ? out[j] + in[j] : in[j];
    }
  }

  template <int known_half>
  static inline __attribute__((always_inline)) void head(Index half, T sign, const T* in,
                                                         const T* cosine, T* out, T keep) {
    const T* sine = cosine + half;
    if constexpr (known_half > 0) {
      T first[known_half], second[known_half];
      for (int k = 0; k < known_half; ++k) {
        first[k] = in[k] * cosine[k] - in[k + known_half] * (sign * sine[k]);
        second[k] = in[k] * (sign * sine[k]) + in[k + known_half] * cosine[k];
      }
      if (keep != T{0})
        for (int k = 0; k < known_half; ++k) {
          first[k] += out[k];
          second[k] += out[k + known_half];
        }
      for (int k = 0; k < known_half; ++k) {
        out[k] = first[k];
        out[k + known_half] = second[k];
      }
    } else {
      for (Index k = 0; k < half; ++k) {
        const T a = in[k], b = in[k + half], c = cosine[k], s = sign * sine[k];
        out[k] = (keep != T{0} ? out[k] : T{}) + a * c - b * s;
        out[k + half] = (keep != T{0} ? out[k + half] : T{}) + a * s + b * c;
      }
    }
  }
};

template <class T>
class Updates final : public OptimizerKernels {
 public:
  void adamw(const AdamwRange& range) override {
    T* p = range.parameters.as<T>();
    const T* g = range.gradients.as<T>();
    T *m = range.first.as<T>(), *v = range.second.as<T>();
    const T b1 = T(range.beta1), b2 = T(range.beta2), epsilon = T(range.epsilon);
    const StepNumbers& step = *range.step;
    const T scale = T(step.gradient_scale), keep = T(1.0 - step.rate * range.decay);
    const T rate = T(step.rate * step.correction1), inverse2 = T(step.correction2);
    for (Index i = 0; i < range.parameters.elements(); ++i) {
      const T q = g[i] * scale;
      m[i] = b1 * m[i] + (T{1} - b1) * q;
      v[i] = b2 * v[i] + (T{1} - b2) * q * q;
      p[i] = keep * p[i] - rate * m[i] / (std::sqrt(v[i] * inverse2) + epsilon);
    }
  }

  void momentum(const MomentumRange& range) override {
    T* p = range.parameters.as<T>();
    const T* g = range.gradients.as<T>();
    T* v = range.velocity.as<T>();
    const T keep = T(range.momentum), decay = T(range.decay);
    const T scale = T(range.step->gradient_scale), rate = T(range.step->rate);
    for (Index i = 0; i < range.parameters.elements(); ++i) {
      v[i] = keep * v[i] + (g[i] * scale + decay * p[i]);
      p[i] -= rate * v[i];
    }
  }

  void adagrad_rows(const AdagradRows& rows) override {
    const Index n = rows.table.columns;
    for (Index i = 0; i < rows.ids.rows; ++i) {
      const Index id = checked_id(rows.ids, i, rows.table.rows);
      const T* g = rows.gradients.as<T>() + i * n;
      T& state = rows.state.as<T>()[id];
      state += row_sum<T>(n, [g](auto at) { return at(g) * at(g); }) / T(n);
      const T rate = T(rows.rate) / (std::sqrt(state) + T(rows.epsilon));
      T* p = rows.table.as<T>() + id * n;
      for (Index j = 0; j < n; ++j) p[j] -= rate * g[j];
    }
  }

  double square_sum(View x) override {
    double sums[8] = {};  // f64, in an order that does not depend on the vectors' width
    const T* in = x.as<T>();
    const Index whole = x.elements() / 8 * 8;
    for (Index i = 0; i < whole; i += 8)
      for (int j = 0; j < 8; ++j) sums[j] += static_cast<double>(in[i + j]) * in[i + j];
    for (Index i = whole; i < x.elements(); ++i) sums[0] += static_cast<double>(in[i]) * in[i];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
};

template <class T>
class Embedding final : public EmbeddingKernels {
 public:
  void forward(View ids, View table, View y) override {
    const Index n = table.columns;
    for (Index i = 0; i < y.rows; ++i) {
      const Index id = checked_id(ids, i, table.rows);
      std::memcpy(y.as<T>() + i * n, table.as<T>() + id * n,
                  static_cast<std::size_t>(n) * sizeof(T));
    }
  }
  void backward(View ids, View y_gradient, View table_gradient, bool add) override {
    zero_unless<T>(add, table_gradient);
    for (Index i = 0; i < y_gradient.rows; ++i)
      add_row(y_gradient, i, table_gradient, checked_id(ids, i, table_gradient.rows));
  }
  void add_positions(View x, View table, std::int64_t sequence, View y) override {
    const Index n = x.columns;
    for (Index i = 0; i < x.rows; ++i) {
      const T *in = x.as<T>() + i * n, *row = table.as<T>() + (i % sequence) * n;
      T* out = y.as<T>() + i * n;
      for (Index j = 0; j < n; ++j) out[j] = in[j] + row[j];
    }
  }
  void positions_backward(View y_gradient, std::int64_t sequence, View table_gradient,
                          bool add) override {
    zero_unless<T>(add, table_gradient);
    for (Index i = 0; i < y_gradient.rows; ++i)
      add_row(y_gradient, i, table_gradient, i % sequence);
  }

 private:
  static void add_row(View from, Index i, View to, Index row) {
    const T* in = from.as<T>() + i * from.columns;
    T* __restrict out = to.as<T>() + row * from.columns;
    for (Index j = 0; j < from.columns; ++j) out[j] += in[j];
  }
};

template <class T>
KernelSet kernel_set() {
  KernelSet set;
  set.gemm.reset(new Gemm<T>);
  set.norm.reset(new Norm<T>);
  set.rope.reset(new Rope<T>);
  set.attention.reset(new Attention<T>);
  set.activation.reset(new Activation<T>);
  set.elementwise.reset(new Elementwise<T>);
  set.embedding.reset(new Embedding<T>);
  set.loss.reset(new Loss<T>);
  set.vocabulary.reset(new Vocabulary<T>);
  set.optimizer.reset(new Updates<T>);
  set.recommender.reset(new Recommender<T>);
  set.bags.reset(new Bags);
  set.diffusion.reset(new Diffusion<T>);
  set.policy.reset(new Policy<T>);
  set.convolution.reset(new Convolution<T>);
  set.detection.reset(new Detection<T>);
  set.classifier.reset(new Classifier<T>);
  set.hstu.reset(new Hstu<T>);
  set.neighbours.reset(new Neighbours<T>);
  set.experts.reset(new Experts<T>);
  return set;
}

}  // namespace bench::training::BENCH_ISA

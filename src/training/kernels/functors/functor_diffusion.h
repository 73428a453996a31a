// The group of diffusion transformers; see functor_kernels.h.
#pragma once

#include "training/kernels/diffusion_kernels.h"
#include "training/kernels/functors/functor_norm.h"
#include "training/kernels/functors/portable.h"

namespace bench::training {

/// y = (base or 0) + x (1 + scale) + shift, or y = base + gate x: row i has the vectors of sample
/// i / of_sample. Null `shift` and `base` are absent. y may be base or x.
template <class T>
struct ModulateRows {
  const T *x, *factors, *shift, *base;
  T* y;
  std::int64_t n, stride, of_sample;  // stride: from sample to sample of the vectors
  float one;                          // added to the factors

  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t own = row / of_sample * stride + column, i = row * n + column;
    auto pack = load_pack<width>(x + i);
    const auto by = load_pack<width>(factors + own);
    const auto plus = load_if<width>(shift != nullptr, shift ? shift + own : nullptr);
    const auto from = load_if<width>(base != nullptr, base ? base + i : nullptr);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      pack.at[k] = T(static_cast<float>(pack.at[k]) * (one + static_cast<float>(by.at[k])) +
                     static_cast<float>(plus.at[k]) + static_cast<float>(from.at[k]));
    store_pack(y + i, pack);
  }
};

/// Row s: the sums of dy, or of dy x if x is not null, down the rows of sample s.
template <class T>
struct SampleSums {
  const T *dy, *x;
  T* sums;
  std::int64_t n, stride, of_sample;  // stride: from sample to sample of the sums
  bool add;

  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t sample, std::int64_t column) const {
    T* to = sums + sample * stride + column;
    float sum[width];
    auto pack = load_if<width>(add, to);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum[k] = static_cast<float>(pack.at[k]);
    for (std::int64_t row = sample * of_sample; row < (sample + 1) * of_sample; ++row) {
      const auto d = load_pack<width>(dy + row * n + column);
      if (x) pack = load_pack<width>(x + row * n + column);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k)
        sum[k] += x ? static_cast<float>(d.at[k]) * static_cast<float>(pack.at[k])
                    : static_cast<float>(d.at[k]);
    }
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) pack.at[k] = T(sum[k]);
    store_pack(to, pack);
  }
};

template <class T>
struct SquaredErrorRows {
  static constexpr int kBlock = 128;  // threads of a row on a GPU
  T* predictions;
  const T* targets;
  double* losses;
  std::int64_t n;
  float gradient_scale;  // 0: losses alone
  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    T* made = predictions + i * n;
    const T* wanted = targets + i * n;
    const float sum = row_sum<width>(block, n, [&](std::int64_t j) {
      const auto a = load_pack<width>(made + j), b = load_pack<width>(wanted + j);
      float squares = 0.0f;
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) {
        const float off = static_cast<float>(a.at[k]) - static_cast<float>(b.at[k]);
        squares += off * off;
      }
      return squares;
    });
    const float slope = 2.0f * gradient_scale / static_cast<float>(n);
    block.each([&](int thread) {
      if (thread == 0) losses[i] = static_cast<double>(sum) / static_cast<double>(n);
      if (gradient_scale == 0.0f) return;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        auto a = load_pack<width>(made + j);
        const auto b = load_pack<width>(wanted + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          a.at[k] = T(slope * (static_cast<float>(a.at[k]) - static_cast<float>(b.at[k])));
        store_pack(made + j, a);
      });
    });
  }
};

template <class T, class Launch>
class FunctorDiffusion final : public DiffusionKernels {
 public:
  explicit FunctorDiffusion(Launch launch) : launch_(launch) {}
  void modulate(View x, View vectors, View y) override {
    ModulateRows<T> body = rows_of(x, vectors, vectors.as<T>() + x.columns, y);
    body.one = 1.0f;
    body.shift = vectors.as<T>();
    launch_.template rows<kWidest<T>>(body, x.rows);
  }
  void modulate_backward(const ModulateBackward& what) override {
    const std::int64_t n = what.x.columns;
    if (what.vectors_gradient) {
      T* shift = what.vectors_gradient.as<T>();
      sum_rows(what.y_gradient, nullptr, what.vectors, shift, what.add_vectors);
      sum_rows(what.y_gradient, what.x.as<T>(), what.vectors, shift + n, what.add_vectors);
    }
    if (!what.x_gradient) return;
    ModulateRows<T> body =
        rows_of(what.y_gradient, what.vectors, what.vectors.as<T>() + n, what.x_gradient);
    body.one = 1.0f;
    if (what.add_x) body.base = what.x_gradient.as<T>();
    launch_.template rows<kWidest<T>>(body, what.x.rows);
  }
  void gate(View x, View gates, View residual, View y) override {
    ModulateRows<T> body = rows_of(x, gates, gates.as<T>(), y);
    body.base = residual.as<T>();
    launch_.template rows<kWidest<T>>(body, x.rows);
  }
  void gate_backward(const GateBackward& what) override {
    if (what.gates_gradient)
      sum_rows(what.y_gradient, what.x.as<T>(), what.gates, what.gates_gradient.as<T>(),
               what.add_gates);
    if (!what.x_gradient) return;
    ModulateRows<T> body =
        rows_of(what.y_gradient, what.gates, what.gates.as<T>(), what.x_gradient);
    if (what.add_x) body.base = what.x_gradient.as<T>();
    launch_.template rows<kWidest<T>>(body, what.x.rows);
  }
  void zero(View x) override { launch_.zero(x.data, x.elements() * std::int64_t{sizeof(T)}); }
  void squared_error(View predictions, View targets, double gradient_scale, View losses) override {
    const SquaredErrorRows<T> body{predictions.as<T>(), targets.as<T>(), losses.as<double>(),
                                   predictions.columns, static_cast<float>(gradient_scale)};
    launch_.template blocks<kWidest<T>>(body, predictions.rows, predictions.columns);
  }

 private:
  /// y = x factors; `vectors` has a row per sample.
  static ModulateRows<T> rows_of(View x, View vectors, const T* factors, View y) {
    return {x.as<T>(), factors,   nullptr,         nullptr,
            y.as<T>(), x.columns, vectors.columns, x.rows / vectors.rows,
            0.0f};
  }
  void sum_rows(View dy, const T* x, View vectors, T* sums, bool add) {
    const SampleSums<T> body{
        dy.as<T>(), x, sums, dy.columns, vectors.columns, dy.rows / vectors.rows, add};
    launch_.template rows<kWidest<T>>(body, vectors.rows);
  }
  Launch launch_;
};

}  // namespace bench::training

// Activations, sums and copies, loss: plain loops that become vector code.
#pragma once

#include <cmath>

#include "probes/training/backends/host/exponential.h"
#include "probes/training/kernels/activation.h"
#include "probes/training/kernels/checked_id.h"
#include "probes/training/kernels/elementwise.h"
#include "probes/training/kernels/loss.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Activation final : public ActivationKernels {
 public:
  void swiglu_forward(View x, View y) override {
    const Index n = y.columns;
    for (Index i = 0; i < x.rows; ++i) {
      const T *gate = x.as<T>() + i * 2 * n, *up = gate + n;
      T* out = y.as<T>() + i * n;
      each_vector<T>(n, [=](auto at) {
        const Vec<T> g = at(gate);
        at.put(out, g * at(up) / (T{1} + exponential(-g)));
      });
    }
  }

  void swiglu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    const Index n = y_gradient.columns;
    for (Index i = 0; i < x.rows; ++i) {
      const T *gate = x.as<T>() + i * 2 * n, *up = gate + n;
      const T* dy = y_gradient.as<T>() + i * n;
      T* dgate = x_gradient.as<T>() + i * 2 * n;
      T* dup = dgate + n;
      each_vector<T>(n, [=](auto at) {
        const Vec<T> g = at(gate), d = at(dy);
        const Vec<T> s = T{1} / (T{1} + exponential(-g));
        const Vec<T> silu = g * s;
        const Vec<T> of_gate = d * at(up) * (s + silu * (T{1} - s)), of_up = d * silu;
        at.put(dgate, add ? at(dgate) + of_gate : of_gate);
        at.put(dup, add ? at(dup) + of_up : of_up);
      });
    }
  }

  void gelu_forward(View x, View y) override {
    const T* in = x.as<T>();
    T* out = y.as<T>();
    each_vector<T>(x.elements(), [=](auto at) { at.put(out, at(in) * share(at(in))); });
  }

  void gelu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    const T *in = x.as<T>(), *dy = y_gradient.as<T>();
    T* dx = x_gradient.as<T>();
    each_vector<T>(x.elements(), [=](auto at) {
      const Vec<T> v = at(in), s = share(v);
      const Vec<T> slope = kScale * (T{2} + T{6} * kCube * v * v);
      const Vec<T> d = at(dy) * (s + v * s * (T{1} - s) * slope);
      at.put(dx, add ? at(dx) + d : d);
    });
  }

 private:
  static constexpr T kScale = static_cast<T>(0.7978845608028654);  // sqrt(2 / pi)
  static constexpr T kCube = static_cast<T>(0.044715);
  /// (1 + tanh u) / 2 = 1 / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3).
  static inline Vec<T> share(Vec<T> x) {
    return T{1} / (T{1} + exponential(T{-2} * kScale * (x + kCube * x * x * x)));
  }
};

template <class T>
class Elementwise final : public ElementwiseKernels {
 public:
  void add(View a, View b, View y) override {
    const T *left = a.as<T>(), *right = b.as<T>();
    T* out = y.as<T>();
    for (Index i = 0; i < y.elements(); ++i) out[i] = left[i] + right[i];
  }
  void copy(View x, View y, bool add) override {
    const T* in = x.as<T>();
    T* out = y.as<T>();
    if (add)
      for (Index i = 0; i < y.elements(); ++i) out[i] += in[i];
    else
      std::memcpy(out, in, static_cast<std::size_t>(y.elements()) * sizeof(T));
  }
  void column_sums(View x, View sums, bool add) override {
    T* __restrict out = sums.as<T>();
    if (!add)
      for (Index j = 0; j < x.columns; ++j) out[j] = T{};
    for (Index i = 0; i < x.rows; ++i) {
      const T* in = x.as<T>() + i * x.columns;
      for (Index j = 0; j < x.columns; ++j) out[j] += in[j];
    }
  }
};

template <class T>
class Loss final : public LossKernels {
 public:
  void cross_entropy(View logits, View targets, double gradient_scale, View losses) override {
    const Index n = logits.columns;
    for (Index i = 0; i < logits.rows; ++i) {
      T* z = logits.as<T>() + i * n;
      const std::int32_t target = targets.as<std::int32_t>()[i];
      if (target >= n) refuse_id(i, target, n);
      const T most = row_max<T>(n, z);
      const T wanted = target < 0 ? T{} : z[target];
      if (gradient_scale == 0.0) {
        const T sum = row_sum_of_exponentials(n, z, most);
        losses.as<double>()[i] = target < 0 ? 0.0 : loss(sum, most, wanted);
        continue;
      }
      const T sum = exponentials<T>(n, z, most);
      losses.as<double>()[i] = target < 0 ? 0.0 : loss(sum, most, wanted);
      const T scale = target < 0 ? T{} : static_cast<T>(gradient_scale) / sum;
      for (Index j = 0; j < n; ++j) z[j] *= scale;
      if (target >= 0) z[target] -= static_cast<T>(gradient_scale);
    }
  }

  void add_up(View losses, View sum, bool add) override {
    double& to = *sum.as<double>();
    if (!add) to = 0.0;
    for (Index i = 0; i < losses.elements(); ++i) to += losses.as<double>()[i];
  }

 private:
  static double loss(T sum, T most, T wanted) {
    return std::log(static_cast<double>(sum)) + static_cast<double>(most - wanted);
  }
  static T row_sum_of_exponentials(Index n, const T* z, T most) {
    return row_sum<T>(
        n, [=](auto at) { return first_lanes<T>(exponential(at(z) - most), at.count, T{}); });
  }
};

}  // namespace bench::training::BENCH_ISA

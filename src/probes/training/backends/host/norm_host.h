// Row normalization on one thread.
#pragma once

#include <cmath>

#include "probes/training/backends/host/vector.h"
#include "probes/training/kernels/norm.h"

namespace bench::training::BENCH_ISA {

template <class T>
inline void zero_unless(bool add, View sums) {
  if (sums && !add)
    for (Index i = 0; i < sums.elements(); ++i) sums.as<T>()[i] = T{};
}

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
      T square{};  // of the difference: E[x^2] - mean^2 would cancel
      for (Index j = 0; j < n; ++j) square += (in[j] - mean) * (in[j] - mean);
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

}  // namespace bench::training::BENCH_ISA

// Updates on one thread.
#pragma once

#include <cmath>

#include "probes/training/backends/host/vector.h"
#include "probes/training/kernels/checked_id.h"
#include "probes/training/kernels/optimizer.h"

namespace bench::training::BENCH_ISA {

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

  void sgd(const SgdRange& range) override {
    T* p = range.parameters.as<T>();
    const T* g = range.gradients.as<T>();
    T* m = range.momentum.as<T>();
    const T rate = T(range.step->rate), scale = T(range.step->gradient_scale);
    const T factor = T(range.factor), decay = T(range.decay);
    for (Index i = 0; i < range.parameters.elements(); ++i) {
      m[i] = factor * m[i] + g[i] * scale + decay * p[i];
      p[i] -= rate * m[i];
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

}  // namespace bench::training::BENCH_ISA

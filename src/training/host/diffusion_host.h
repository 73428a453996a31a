// Modulation, gates and the squared error on a CPU.
#pragma once

#include <cstring>

#include "training/host/vector.h"
#include "training/kernels/diffusion_kernels.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Diffusion final : public DiffusionKernels {
 public:
  void modulate(View x, View vectors, View y) override {
    each_row(x, vectors, [&](const T* in, const T* shift, Index at_row) {
      const T* scale = shift + x.columns;
      T* out = y.as<T>() + at_row;
      each_vector<T>(x.columns,
                     [=](auto at) { at.put(out, at(in) * (T{1} + at(scale)) + at(shift)); });
    });
  }

  void modulate_backward(const ModulateBackward& what) override {
    const Index d = what.x.columns;
    if (what.vectors_gradient)
      for (Index sample = 0; sample < what.vectors.rows; ++sample) {
        T* sums = what.vectors_gradient.as<T>() + sample * 2 * d;
        const Rows dy(what.y_gradient, what.vectors.rows, sample);
        const Rows x(what.x, what.vectors.rows, sample);
        row_sums(dy, nullptr, sums, d, what.add_vectors);
        row_sums(dy, x.begin, sums + d, d, what.add_vectors);
      }
    if (!what.x_gradient) return;
    each_row(what.y_gradient, what.vectors, [&](const T* dy, const T* shift, Index at_row) {
      const T* scale = shift + d;
      T* dx = what.x_gradient.as<T>() + at_row;
      each_vector<T>(d, [=, add = what.add_x](auto at) {
        const Vec<T> of_x = at(dy) * (T{1} + at(scale));
        at.put(dx, add ? at(dx) + of_x : of_x);
      });
    });
  }

  void gate(View x, View gates, View residual, View y) override {
    each_row(x, gates, [&](const T* in, const T* by, Index at_row) {
      const T* from = residual.as<T>() + at_row;
      T* out = y.as<T>() + at_row;
      each_vector<T>(x.columns, [=](auto at) { at.put(out, at(from) + at(by) * at(in)); });
    });
  }

  void gate_backward(const GateBackward& what) override {
    const Index d = what.x.columns;
    if (what.gates_gradient)
      for (Index sample = 0; sample < what.gates.rows; ++sample) {
        const Rows dy(what.y_gradient, what.gates.rows, sample);
        const Rows x(what.x, what.gates.rows, sample);
        row_sums(dy, x.begin, what.gates_gradient.as<T>() + sample * d, d, what.add_gates);
      }
    if (!what.x_gradient) return;
    each_row(what.y_gradient, what.gates, [&](const T* dy, const T* by, Index at_row) {
      T* dx = what.x_gradient.as<T>() + at_row;
      each_vector<T>(d, [=, add = what.add_x](auto at) {
        const Vec<T> of_x = at(dy) * at(by);
        at.put(dx, add ? at(dx) + of_x : of_x);
      });
    });
  }

  void zero(View x) override {
    std::memset(x.data, 0, static_cast<std::size_t>(x.elements()) * sizeof(T));
  }

  void squared_error(View predictions, View targets, double gradient_scale, View losses) override {
    const Index n = predictions.columns;
    const T slope = static_cast<T>(2.0 * gradient_scale / static_cast<double>(n));
    for (Index i = 0; i < predictions.rows; ++i) {
      T* made = predictions.as<T>() + i * n;
      const T* wanted = targets.as<T>() + i * n;
      const T sum = row_sum<T>(n, [=](auto at) {
        const Vec<T> off = at(made) - at(wanted);
        return off * off;
      });
      losses.as<double>()[i] = static_cast<double>(sum) / static_cast<double>(n);
      if (gradient_scale == 0.0) continue;
      each_vector<T>(n, [=](auto at) { at.put(made, slope * (at(made) - at(wanted))); });
    }
  }

 private:
  /// The rows of one sample.
  struct Rows {
    const T* begin;
    Index count;
    Rows(View x, Index samples, Index sample)
        : begin(x.as<T>() + sample * (x.rows / samples) * x.columns), count(x.rows / samples) {}
  };

  /// work(row, vector of its sample, offset of the row)
  template <class Work>
  static void each_row(View x, View vectors, const Work& work) {
    const Index of_sample = x.rows / vectors.rows;
    for (Index i = 0; i < x.rows; ++i)
      work(x.as<T>() + i * x.columns, vectors.as<T>() + i / of_sample * vectors.columns,
           i * x.columns);
  }

  /// Sums down the columns of dy, or of dy x.
  static void row_sums(const Rows& dy, const T* x, T* sums, Index d, bool add) {
    each_vector<T>(d, [=](auto at) {
      Vec<T> sum = add ? at(sums) : Vec<T>{};
      for (Index row = 0; row < dy.count; ++row)
        sum += x ? at(dy.begin + row * d) * at(x + row * d) : at(dy.begin + row * d);
      at.put(sums, sum);
    });
  }
};

}  // namespace bench::training::BENCH_ISA

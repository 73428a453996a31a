// Recommender kernels on one thread.
#pragma once

#include <cmath>

#include "probes/training/backends/host/dot_host.h"
#include "probes/training/kernels/recommender.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Recommender final : public RecommenderKernels {
 public:
  void relu_forward(View x, View y) override {
    const T* in = x.as<T>();
    T* out = y.as<T>();
    // What is not a number stays so: a run that has failed must not look healthy.
    each_vector<T>(x.elements(), [=](auto at) { at.put(out, at(in) < T{0} ? Vec<T>{} : at(in)); });
  }
  void relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    const T *out = y.as<T>(), *dy = y_gradient.as<T>();
    T* dx = x_gradient.as<T>();
    each_vector<T>(y.elements(), [=](auto at) {
      const Vec<T> d = at(out) > T{0} ? at(dy) : Vec<T>{};
      at.put(dx, add ? at(dx) + d : d);
    });
  }

  void cross_forward(View x0, View u, View x, View y) override {
    const T *a = x0.as<T>(), *b = u.as<T>(), *c = x.as<T>();
    T* out = y.as<T>();
    each_vector<T>(y.elements(), [=](auto at) { at.put(out, at(a) * at(b) + at(c)); });
  }
  void cross_backward(const CrossBackward& what) override {
    const Index n = what.y_gradient.elements();
    if (what.x0_gradient) product(n, what.y_gradient, what.u, what.x0_gradient, what.add_x0);
    if (what.u_gradient) product(n, what.y_gradient, what.x0, what.u_gradient, what.add_u);
  }

  void dot_forward(View first, View rest, View y) override {
    for (Index row = 0; row < y.rows; ++row)
      dot_row<T>(features(first, rest, row), y.as<T>() + row * y.columns);
  }
  void dot_backward(const DotBackward& what) override {
    for (Index row = 0; row < what.y_gradient.rows; ++row)
      dot_row_backward<T>(features(what.first, what.rest, row),
                          what.y_gradient.as<T>() + row * what.y_gradient.columns,
                          row_of(what.first_gradient, row), what.add_first,
                          row_of(what.rest_gradient, row), what.add_rest);
  }

  void copy_columns(View from, std::int64_t from_column, View to, std::int64_t to_column,
                    std::int64_t columns, bool add) override {
    for (Index row = 0; row < from.rows; ++row) {
      const T* in = from.as<T>() + row * from.columns + from_column;
      T* out = to.as<T>() + row * to.columns + to_column;
      each_vector<T>(columns, [=](auto at) { at.put(out, add ? at(out) + at(in) : at(in)); });
    }
  }

  void binary_cross_entropy(View logits, View labels, double gradient_scale, View losses) override {
    const T scale = static_cast<T>(gradient_scale);
    for (Index i = 0; i < logits.rows; ++i) {
      T& z = logits.as<T>()[i];
      const T label = labels.as<T>()[i];
      // log(1 + e^z) - label z, without overflow of the exponential.
      const T small = std::exp(-std::abs(z));
      const T rise = z > T{0} ? z - label * z : -label * z;
      losses.as<double>()[i] = static_cast<double>(rise) + static_cast<double>(std::log1p(small));
      if (gradient_scale == 0.0) continue;
      const T probability = (z > T{0} ? T{1} : small) / (T{1} + small);
      z = scale * (probability - label);
    }
  }

 private:
  static void product(Index n, View dy, View other, View gradient, bool add) {
    const T *a = dy.as<T>(), *b = other.as<T>();
    T* out = gradient.as<T>();
    each_vector<T>(n, [=](auto at) {
      const Vec<T> d = at(a) * at(b);
      at.put(out, add ? at(out) + d : d);
    });
  }
  static T* row_of(View view, Index row) {
    return view ? view.as<T>() + row * view.columns : nullptr;
  }
  static Features<T> features(View first, View rest, Index row) {
    return {row_of(first, row), row_of(rest, row), first.columns, 1 + rest.columns / first.columns};
  }
};

}  // namespace bench::training::BENCH_ISA

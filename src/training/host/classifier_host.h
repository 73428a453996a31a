// Pooling, sums with a ReLU and smoothed labels on a CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "training/host/vector.h"
#include "training/kernels/classifier_kernels.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Classifier final : public ClassifierKernels {
 public:
  void max_pool(const PatchShape& window, View x, View y) override {
    const Index n = x.columns;
    each_window(window, y.rows, [&](Index row, Index first, Index down, Index across) {
      T* out = y.as<T>() + row * n;
      each_vector<T>(n, [&](auto at) {
        Vec<T> most = Vec<T>{} - std::numeric_limits<T>::infinity();
        for (Index tap = 0; tap < down * across; ++tap)
          most = larger<T>(at(pixel_of(window, x, first, tap, across)), most);
        at.put(out, most);
      });
    });
  }

  void max_pool_backward(const PatchShape& window, const PoolBackward& what) override {
    const Index n = what.x.columns;
    if (!what.add) std::fill_n(what.x_gradient.as<T>(), what.x_gradient.elements(), T{});
    each_window(window, what.y.rows, [&](Index row, Index first, Index down, Index across) {
      const T* most = what.y.as<T>() + row * n;
      const T* dy = what.y_gradient.as<T>() + row * n;
      each_vector<T>(n, [&](auto at) {
        Vec<T> left = at(dy);  // until the first of the largest pixels takes it
        for (Index tap = 0; tap < down * across; ++tap) {
          T* dx = pixel_of(window, what.x_gradient, first, tap, across);
          const Mask<T> takes = at(pixel_of(window, what.x, first, tap, across)) == at(most);
          at.put(dx, at(dx) + (takes ? left : Vec<T>{}));
          left = takes ? Vec<T>{} : left;
        }
      });
    });
  }

  void mean_rows(View x, View y) override {
    const Index n = x.columns, each = x.rows / y.rows;
    const T share = T{1} / static_cast<T>(each);
    for (Index i = 0; i < y.rows; ++i) {
      const T* in = x.as<T>() + i * each * n;
      T* out = y.as<T>() + i * n;
      each_vector<T>(n, [=](auto at) {
        Vec<T> sum = {};
        for (Index row = 0; row < each; ++row) sum += at(in + row * n);
        at.put(out, sum * share);
      });
    }
  }

  void mean_rows_backward(View y_gradient, View x_gradient, bool add) override {
    const Index n = x_gradient.columns, each = x_gradient.rows / y_gradient.rows;
    const T share = T{1} / static_cast<T>(each);
    for (Index i = 0; i < x_gradient.rows; ++i) {
      const T* dy = y_gradient.as<T>() + i / each * n;
      T* dx = x_gradient.as<T>() + i * n;
      each_vector<T>(n, [=](auto at) {
        const Vec<T> d = at(dy) * share;
        at.put(dx, add ? at(dx) + d : d);
      });
    }
  }

  void add_relu(View a, View b, View y) override {
    const T *left = a.as<T>(), *right = b.as<T>();
    T* out = y.as<T>();
    each_vector<T>(y.elements(), [=](auto at) {
      const Vec<T> sum = at(left) + at(right);
      at.put(out, sum < T{0} ? Vec<T>{} : sum);  // NaN stays NaN
    });
  }

  void add_relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    const T *made = y.as<T>(), *dy = y_gradient.as<T>();
    T* dx = x_gradient.as<T>();
    each_vector<T>(y.elements(), [=](auto at) {
      const Vec<T> d = at(made) > T{0} ? at(dy) : Vec<T>{};
      at.put(dx, add ? at(dx) + d : d);
    });
  }

  void smoothed_cross_entropy(View logits, View targets, double smoothing, double gradient_scale,
                              View losses) override {
    const Index n = logits.columns;
    const T even = static_cast<T>(smoothing / static_cast<double>(n));
    const T own = static_cast<T>(1.0 - smoothing), scale = static_cast<T>(gradient_scale);
    for (Index i = 0; i < logits.rows; ++i) {
      T* z = logits.as<T>() + i * n;
      const std::int32_t target = targets.as<std::int32_t>()[i];
      const T most = row_max<T>(n, z);
      T sum{}, of_all{};
      for (Index c = 0; c < n; ++c) {
        sum += std::exp(z[c] - most);
        of_all += z[c] - most;
      }
      const bool counts = target >= 0;
      losses.as<double>()[i] =
          counts ? std::log(static_cast<double>(sum)) -
                       static_cast<double>(own * (z[target] - most) + even * of_all)
                 : 0.0;
      if (gradient_scale == 0.0) continue;
      for (Index c = 0; c < n; ++c) {
        const T wanted = even + (c == target ? own : T{});
        z[c] = counts ? scale * (std::exp(z[c] - most) / sum - wanted) : T{};
      }
    }
  }

 private:
  /// work(row of the result, first pixel inside the image, rows and columns inside it)
  template <class Work>
  static void each_window(const PatchShape& window, Index rows, const Work& work) {
    const Index across = window.out_width(), down = window.out_height();
    for (Index row = 0; row < rows; ++row) {
      const Index top = row / across % down * window.stride - window.padding;
      const Index left = row % across * window.stride - window.padding;
      const Index y = std::max<Index>(top, 0), x = std::max<Index>(left, 0);
      work(row, (row / (across * down) * window.height + y) * window.width + x,
           std::min(top + window.kernel, window.height) - y,
           std::min(left + window.kernel, window.width) - x);
    }
  }
  static T* pixel_of(const PatchShape& window, View x, Index first, Index tap, Index across) {
    return x.as<T>() + (first + tap / across * window.width + tap % across) * x.columns;
  }
};

}  // namespace bench::training::BENCH_ISA

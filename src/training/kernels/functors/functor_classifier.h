// The group of image classifiers; see functor_kernels.h.
#pragma once

#include <math.h>

#include "training/kernels/classifier_kernels.h"
#include "training/kernels/functors/functor_norm.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/functors/row_elements.h"

namespace bench::training {

/// Where the windows of a pooling lie.
struct PoolWindows {
  PatchShape shape;
  std::int64_t across, down;  // pixels of the result
  std::int64_t n;             // channels

  /// Pixel of x of a tap of the window of result `row`; -1 outside.
  BENCH_BOTH std::int64_t pixel(std::int64_t row, std::int64_t tap) const {
    const std::int64_t y = row / across % down * shape.stride - shape.padding + tap / shape.kernel;
    const std::int64_t left = row % across * shape.stride - shape.padding + tap % shape.kernel;
    const bool inside = y >= 0 && y < shape.height && left >= 0 && left < shape.width;
    return inside ? (row / (across * down) * shape.height + y) * shape.width + left : -1;
  }
};

/// Row: a pixel of the result, column: a channel.
template <class T>
struct MaxPool {
  PoolWindows windows;
  const T* x;
  T* y;
  BENCH_BOTH std::int64_t columns() const { return windows.n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    auto most = load_if<width>(false, x);
    bool any = false;
    for (std::int64_t tap = 0; tap < windows.shape.kernel * windows.shape.kernel; ++tap) {
      const std::int64_t pixel = windows.pixel(row, tap);
      if (pixel < 0) continue;
      const auto pack = load_pack<width>(x + pixel * windows.n + column);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k)
        if (!any || static_cast<float>(pack.at[k]) > static_cast<float>(most.at[k]))
          most.at[k] = pack.at[k];
      any = true;
    }
    store_pack(y + row * windows.n + column, most);
  }
};

/// Row: a pixel of x, column: a channel. Sums the gradients of the windows of which this pixel is
/// the first largest one.
template <class T>
struct MaxPoolGradient {
  PoolWindows windows;
  const T *x, *y, *y_gradient;
  T* x_gradient;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return windows.n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const PatchShape& shape = windows.shape;
    const std::int64_t image = row / (shape.height * shape.width);
    const std::int64_t top = row / shape.width % shape.height + shape.padding;
    const std::int64_t left = row % shape.width + shape.padding;
    T* to = x_gradient + row * windows.n + column;
    auto pack = load_if<width>(add, to);
    float sums[width];
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sums[k] = static_cast<float>(pack.at[k]);
    // From the last tap on: windows in the order of the result.
    for (std::int64_t tap = shape.kernel * shape.kernel - 1; tap >= 0; --tap) {
      const std::int64_t a = top - tap / shape.kernel, b = left - tap % shape.kernel;
      if (a < 0 || b < 0 || a % shape.stride != 0 || b % shape.stride != 0) continue;
      if (a / shape.stride >= windows.down || b / shape.stride >= windows.across) continue;
      const std::int64_t window =
          (image * windows.down + a / shape.stride) * windows.across + b / shape.stride;
      for (int k = 0; k < width; ++k)
        if (is_first(window, tap, column + k))
          sums[k] += static_cast<float>(y_gradient[window * windows.n + column + k]);
    }
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) pack.at[k] = T(sums[k]);
    store_pack(to, pack);
  }

 private:
  BENCH_BOTH bool is_largest(std::int64_t window, std::int64_t tap, std::int64_t channel) const {
    const std::int64_t pixel = windows.pixel(window, tap);
    return pixel >= 0 && static_cast<float>(x[pixel * windows.n + channel]) ==
                             static_cast<float>(y[window * windows.n + channel]);
  }
  BENCH_BOTH bool is_first(std::int64_t window, std::int64_t tap, std::int64_t channel) const {
    if (!is_largest(window, tap, channel)) return false;
    for (std::int64_t before = 0; before < tap; ++before)
      if (is_largest(window, before, channel)) return false;
    return true;
  }
};

/// Row: a row of y.
template <class T>
struct MeanRows {
  const T* x;
  T* y;
  std::int64_t n, each;  // rows of x to a row of y
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    float sums[width] = {};
    for (std::int64_t i = row * each; i < (row + 1) * each; ++i) {
      const auto pack = load_pack<width>(x + i * n + column);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) sums[k] += static_cast<float>(pack.at[k]);
    }
    const float share = 1.0f / static_cast<float>(each);
    Pack<T, width> mean;
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) mean.at[k] = T(sums[k] * share);
    store_pack(y + row * n + column, mean);
  }
};

/// Row: a row of x.
template <class T>
struct MeanRowsGradient {
  const T* y_gradient;
  T* x_gradient;
  std::int64_t n, each;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const float share = 1.0f / static_cast<float>(each);
    T* to = x_gradient + row * n + column;
    auto sum = load_if<width>(add, to);
    const auto dy = load_pack<width>(y_gradient + row / each * n + column);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] = T(static_cast<float>(sum.at[k]) + static_cast<float>(dy.at[k]) * share);
    store_pack(to, sum);
  }
};

template <class T>
struct AddReluElements {
  const T *a, *b;
  T* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(a + i);
    const auto other = load_pack<width>(b + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float sum = static_cast<float>(pack.at[k]) + static_cast<float>(other.at[k]);
      pack.at[k] = T(sum < 0.0f ? 0.0f : sum);  // NaN stays NaN
    }
    store_pack(y + i, pack);
  }
};

template <class T>
struct AddReluGradient {
  const T *y, *y_gradient;
  T* x_gradient;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto made = load_pack<width>(y + i), dy = load_pack<width>(y_gradient + i);
    auto sum = load_if<width>(add, x_gradient + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] = T(static_cast<float>(sum.at[k]) +
                    (static_cast<float>(made.at[k]) > 0.0f ? static_cast<float>(dy.at[k]) : 0.0f));
    store_pack(x_gradient + i, sum);
  }
};

/// A block of threads for each row of logits.
template <class T>
struct SmoothedLossRows {
  static constexpr int kBlock = 256;  // threads of a row on a GPU
  T* logits;
  const std::int32_t* targets;
  double* losses;
  std::int64_t n;
  float own, even;       // targets of the label, in addition to that of every class
  float gradient_scale;  // 0: losses alone
  IdFault* fault;

  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    T* z = logits + i * n;
    const std::int32_t target = targets[i];
    const bool counts = target >= 0 && target < n;
    const float wanted = counts ? static_cast<float>(z[target]) : 0.0f;
    typename Block::template Per<float> most, sums, totals;
    block.each([&](int thread) {
      if (thread == 0 && target >= n) report_id(fault, i, target, n);
      most(thread) = -1e30f;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        const auto pack = load_pack<width>(z + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          most(thread) = fmaxf(most(thread), static_cast<float>(pack.at[k]));
      });
    });
    const float top = block.max(most);
    block.each([&](int thread) {
      float sum = 0.0f, total = 0.0f;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        const auto pack = load_pack<width>(z + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k) {
          sum += expf(static_cast<float>(pack.at[k]) - top);
          total += static_cast<float>(pack.at[k]) - top;
        }
      });
      sums(thread) = sum;
      totals(thread) = total;
    });
    const float sum = block.sum(sums), total = block.sum(totals);
    const float scale = counts ? gradient_scale : 0.0f;
    block.each([&](int thread) {
      if (thread == 0)
        losses[i] = counts ? log(static_cast<double>(sum)) -
                                 static_cast<double>(own * (wanted - top) + even * total)
                           : 0.0;
      if (gradient_scale == 0.0f) return;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        auto pack = load_pack<width>(z + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          pack.at[k] = T(scale * (expf(static_cast<float>(pack.at[k]) - top) / sum - even -
                                  (j + k == target ? own : 0.0f)));
        store_pack(z + j, pack);
      });
    });
  }
};

template <class T, class Launch>
class FunctorClassifier final : public ClassifierKernels {
 public:
  explicit FunctorClassifier(Launch launch) : launch_(launch) {}
  void max_pool(const PatchShape& window, View x, View y) override {
    launch_.template rows<kWidest<T>>(MaxPool<T>{windows_of(window, x), x.as<T>(), y.as<T>()},
                                      y.rows);
  }
  void max_pool_backward(const PatchShape& window, const PoolBackward& what) override {
    launch_.template rows<kWidest<T>>(
        MaxPoolGradient<T>{windows_of(window, what.x), what.x.as<T>(), what.y.as<T>(),
                           what.y_gradient.as<T>(), what.x_gradient.as<T>(), what.add},
        what.x.rows);
  }
  void mean_rows(View x, View y) override {
    launch_.template rows<kWidest<T>>(MeanRows<T>{x.as<T>(), y.as<T>(), x.columns, x.rows / y.rows},
                                      y.rows);
  }
  void mean_rows_backward(View y_gradient, View x_gradient, bool add) override {
    launch_.template rows<kWidest<T>>(
        MeanRowsGradient<T>{y_gradient.as<T>(), x_gradient.as<T>(), x_gradient.columns,
                            x_gradient.rows / y_gradient.rows, add},
        x_gradient.rows);
  }
  void add_relu(View a, View b, View y) override {
    launch_.template elements<kWidest<T>>(AddReluElements<T>{a.as<T>(), b.as<T>(), y.as<T>()},
                                          y.elements());
  }
  void add_relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    launch_.template elements<kWidest<T>>(
        AddReluGradient<T>{y.as<T>(), y_gradient.as<T>(), x_gradient.as<T>(), add}, y.elements());
  }
  void smoothed_cross_entropy(View logits, View targets, double smoothing, double gradient_scale,
                              View losses) override {
    const SmoothedLossRows<T> body{
        logits.as<T>(),
        targets.as<std::int32_t>(),
        losses.as<double>(),
        logits.columns,
        static_cast<float>(1.0 - smoothing),
        static_cast<float>(smoothing / static_cast<double>(logits.columns)),
        static_cast<float>(gradient_scale),
        launch_.fault()};
    launch_.template blocks<kWidest<T>>(body, logits.rows, logits.columns);
  }

 private:
  static PoolWindows windows_of(const PatchShape& window, View x) {
    return {window, window.out_width(), window.out_height(), x.columns};
  }
  Launch launch_;
};

}  // namespace bench::training

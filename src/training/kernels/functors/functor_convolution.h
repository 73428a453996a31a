// The group of convolutional networks; see functor_kernels.h.
#pragma once

#include <math.h>

#include "training/kernels/convolution_kernels.h"
#include "training/kernels/functors/functor_norm.h"
#include "training/kernels/functors/portable.h"

namespace bench::training {

/// Row: a patch, column: an element of it.
template <class T>
struct GatherPatches {
  PatchShape shape;
  const T* x;
  T* patches;
  std::int64_t across, down;  // pixels of the result
  std::int64_t n;             // channels of x

  BENCH_BOTH std::int64_t columns() const { return shape.kernel * shape.kernel * shape.channels; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t tap = column / shape.channels, channel = column % shape.channels;
    const std::int64_t image = row / (across * down);
    const std::int64_t y = row / across % down * shape.stride - shape.padding + tap / shape.kernel;
    const std::int64_t left = row % across * shape.stride - shape.padding + tap % shape.kernel;
    const bool inside = y >= 0 && y < shape.height && left >= 0 && left < shape.width;
    const std::int64_t pixel = (image * shape.height + y) * shape.width + left;
    const T* from = x + (inside ? pixel * n + shape.first_channel + channel : 0);
    store_pack(patches + row * columns() + column, load_if<width>(inside, from));
  }
};

/// Row: a pixel of x, column: a channel. Sums the elements of all patches that have this pixel, tap
/// by tap.
template <class T>
struct ScatterPatches {
  PatchShape shape;
  const T* patches;
  T* x;
  std::int64_t across, down, n;
  bool add;

  BENCH_BOTH std::int64_t columns() const { return shape.channels; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t image = row / (shape.height * shape.width);
    const std::int64_t y = row / shape.width % shape.height + shape.padding;
    const std::int64_t left = row % shape.width + shape.padding;
    T* to = x + row * n + shape.first_channel + column;
    auto pack = load_if<width>(add, to);
    float sums[width];
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sums[k] = static_cast<float>(pack.at[k]);
    for (std::int64_t tap = 0; tap < shape.kernel * shape.kernel; ++tap) {
      const std::int64_t a = y - tap / shape.kernel, b = left - tap % shape.kernel;
      if (a < 0 || b < 0 || a % shape.stride != 0 || b % shape.stride != 0) continue;
      if (a / shape.stride >= down || b / shape.stride >= across) continue;
      const std::int64_t patch = (image * down + a / shape.stride) * across + b / shape.stride;
      const auto part = load_pack<width>(
          patches + (patch * shape.kernel * shape.kernel + tap) * shape.channels + column);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) sums[k] += static_cast<float>(part.at[k]);
    }
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) pack.at[k] = T(sums[k]);
    store_pack(to, pack);
  }
};

/// One norm: its tensors, and what one element has.
template <class T>
struct NormedGroups {
  const T *x, *gain, *bias;
  const float* statistics;
  std::int64_t rows, n, groups;  // pixels of an image, channels, groups
  bool relu;

  BENCH_BOTH std::int64_t each() const { return n / groups; }
  BENCH_BOTH float normal(std::int64_t row, std::int64_t channel) const {
    const float* of = statistics + 2 * (row / rows * groups + channel / each());
    return (static_cast<float>(x[row * n + channel]) - of[0]) * of[1];
  }
  BENCH_BOTH float value(std::int64_t row, std::int64_t channel) const {
    const float y = normal(row, channel) * static_cast<float>(gain[channel]) +
                    static_cast<float>(bias[channel]);
    return relu && y < 0.0f ? 0.0f : y;
  }
  /// Of the gradient of y that passes the ReLU.
  BENCH_BOTH float slope(const T* y_gradient, std::int64_t row, std::int64_t channel) const {
    const bool open = !relu || value(row, channel) > 0.0f;
    return open ? static_cast<float>(y_gradient[row * n + channel]) : 0.0f;
  }
};

/// Sum over the elements of group `group` of image `image` of term(row, channel).
template <class T, class Block, class Term>
BENCH_BOTH float sum_of_group(Block& block, const NormedGroups<T>& norm, std::int64_t image,
                              std::int64_t group, const Term& term) {
  typename Block::template Per<float> sums;
  block.each([&](int thread) {
    float sum = 0.0f;
    for (std::int64_t i = thread; i < norm.rows * norm.each(); i += Block::kThreads)
      sum += term(image * norm.rows + i / norm.each(), group * norm.each() + i % norm.each());
    sums(thread) = sum;
  });
  return block.sum(sums);
}

/// Unit (image, group).
template <class T>
struct GroupStatistics {
  NormedGroups<T> norm;
  float* statistics;
  float epsilon;
  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t image, std::int64_t group, float*) const {
    const float count = static_cast<float>(norm.rows * norm.each());
    const auto value = [&](std::int64_t row, std::int64_t channel) {
      return static_cast<float>(norm.x[row * norm.n + channel]);
    };
    const float mean = sum_of_group(block, norm, image, group, value) / count;
    const float squares =
        sum_of_group(block, norm, image, group, [&](std::int64_t row, std::int64_t channel) {
          const float off = value(row, channel) - mean;
          return off * off;
        });
    float* to = statistics + 2 * (image * norm.groups + group);
    block.each([&](int thread) {
      if (thread > 0) return;
      to[0] = mean;
      to[1] = 1.0f / sqrtf(squares / count + epsilon);
    });
  }
};

template <class T>
struct GroupNormElements {
  NormedGroups<T> norm;
  T* y;
  BENCH_BOTH std::int64_t columns() const { return norm.n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    Pack<T, width> pack;
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) pack.at[k] = T(norm.value(row, column + k));
    store_pack(y + row * norm.n + column, pack);
  }
};

/// Unit (image, group).
template <class T>
struct GroupNormGradient {
  NormedGroups<T> norm;
  const T* y_gradient;
  T* x_gradient;
  bool add;
  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t image, std::int64_t group, float*) const {
    const auto of_normal = [&](std::int64_t row, std::int64_t channel) {
      return norm.slope(y_gradient, row, channel) * static_cast<float>(norm.gain[channel]);
    };
    const float count = static_cast<float>(norm.rows * norm.each());
    const float mean = sum_of_group(block, norm, image, group, of_normal) / count;
    const float dot = sum_of_group(block, norm, image, group,
                                   [&](std::int64_t row, std::int64_t channel) {
                                     return of_normal(row, channel) * norm.normal(row, channel);
                                   }) /
                      count;
    const float r = norm.statistics[2 * (image * norm.groups + group) + 1];
    block.each([&](int thread) {
      for (std::int64_t i = thread; i < norm.rows * norm.each(); i += Block::kThreads) {
        const std::int64_t row = image * norm.rows + i / norm.each();
        const std::int64_t channel = group * norm.each() + i % norm.each();
        const float d = r * (of_normal(row, channel) - mean - norm.normal(row, channel) * dot);
        T& to = x_gradient[row * norm.n + channel];
        to = T(add ? static_cast<float>(to) + d : d);
      }
    });
  }
};

/// The summands of the gradients of gain and bias.
template <class T, bool of_gain>
struct GroupNormTerm {
  NormedGroups<T> norm;
  const T* y_gradient;
  BENCH_BOTH float operator()(std::int64_t row, std::int64_t column) const {
    return norm.slope(y_gradient, row, column) * (of_gain ? norm.normal(row, column) : 1.0f);
  }
};

/// Row: a pixel of the larger map.
template <class T>
struct UpsampleAdd {
  const T *x, *base;
  T* y;
  std::int64_t n, across;  // channels, columns of pixels of x
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t coarse = row / (4 * across) * across + row % (2 * across) / 2;
    auto sum = load_pack<width>(base + row * n + column);
    const auto pack = load_pack<width>(x + coarse * n + column);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] = T(static_cast<float>(sum.at[k]) + static_cast<float>(pack.at[k]));
    store_pack(y + row * n + column, sum);
  }
};

/// Row: a pixel of the smaller map.
template <class T>
struct UpsampleGradient {
  const T* y_gradient;
  T* x_gradient;
  std::int64_t n, across;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return n; }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    const std::int64_t first = row / across * 4 * across + row % across * 2;
    auto sum = load_if<width>(add, x_gradient + row * n + column);
    float sums[width];
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sums[k] = static_cast<float>(sum.at[k]);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto pack =
          load_pack<width>(y_gradient + (first + i / 2 * 2 * across + i % 2) * n + column);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) sums[k] += static_cast<float>(pack.at[k]);
    }
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum.at[k] = T(sums[k]);
    store_pack(x_gradient + row * n + column, sum);
  }
};

template <class T, class Launch>
class FunctorConvolution final : public ConvolutionKernels {
 public:
  explicit FunctorConvolution(Launch launch) : launch_(launch) {}
  void gather(const PatchShape& shape, View x, View patches) override {
    launch_patches(GatherPatches<T>{shape, x.as<T>(), patches.as<T>(), shape.out_width(),
                                    shape.out_height(), x.columns},
                   patches.rows);
  }
  void scatter(const PatchShape& shape, View patches, View x, bool add) override {
    launch_patches(ScatterPatches<T>{shape, patches.as<T>(), x.as<T>(), shape.out_width(),
                                     shape.out_height(), x.columns, add},
                   x.rows);
  }
  void group_norm(const GroupNormShape& shape, View x, View gain, View bias, View y,
                  View statistics) override {
    const NormedGroups<T> norm = normed(shape, x, gain, bias, statistics);
    launch_.units(
        GroupStatistics<T>{norm, statistics.as<float>(), static_cast<float>(shape.epsilon)},
        shape.images, shape.groups, 0);
    launch_.template rows<kWidest<T>>(GroupNormElements<T>{norm, y.as<T>()}, x.rows);
  }
  void group_norm_backward(const GroupNormShape& shape, const GroupNormBackward& what) override {
    const NormedGroups<T> norm = normed(shape, what.x, what.gain, what.bias, what.statistics);
    const T* dy = what.y_gradient.as<T>();
    if (what.gain_gradient)
      sum_columns<T>(launch_, GroupNormTerm<T, true>{norm, dy}, what.x.rows, what.gain_gradient,
                     what.add_gain);
    if (what.bias_gradient)
      sum_columns<T>(launch_, GroupNormTerm<T, false>{norm, dy}, what.x.rows, what.bias_gradient,
                     what.add_bias);
    if (!what.x_gradient) return;
    // Last: the input's gradient may share memory with the output's.
    launch_.units(GroupNormGradient<T>{norm, dy, what.x_gradient.as<T>(), what.add_x}, shape.images,
                  shape.groups, 0);
  }
  void upsample_add(std::int64_t width, View x, View base, View y) override {
    launch_.template rows<kWidest<T>>(
        UpsampleAdd<T>{x.as<T>(), base.as<T>(), y.as<T>(), x.columns, width}, y.rows);
  }
  void upsample_backward(std::int64_t width, View y_gradient, View x_gradient, bool add) override {
    launch_.template rows<kWidest<T>>(
        UpsampleGradient<T>{y_gradient.as<T>(), x_gradient.as<T>(), x_gradient.columns, width, add},
        x_gradient.rows);
  }

 private:
  static NormedGroups<T> normed(const GroupNormShape& shape, View x, View gain, View bias,
                                View statistics) {
    return {x.as<T>(), gain.as<T>(), bias.as<T>(), statistics.as<float>(), x.rows / shape.images,
            x.columns, shape.groups, shape.relu};
  }
  /// Packs must not cross from pixel to pixel.
  template <class Body>
  void launch_patches(const Body& body, std::int64_t rows) {
    constexpr int kWide = kWidest<T>;
    const PatchShape& shape = body.shape;
    if (shape.channels % kWide == 0 && shape.first_channel % kWide == 0 && body.n % kWide == 0)
      launch_.template rows<kWide>(body, rows);
    else
      launch_.template rows<1>(body, rows);
  }
  Launch launch_;
};

}  // namespace bench::training

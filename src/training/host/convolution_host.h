// Patches, group norms and enlarged maps on a CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "training/host/vector.h"
#include "training/kernels/convolution_kernels.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Convolution final : public ConvolutionKernels {
 public:
  void gather(const PatchShape& shape, View x, View patches) override {
    T* out = patches.as<T>();
    each_run(shape, x, patches, [&](Index patch, Index pixel, Index pixels) {
      T* to = out + patch;
      if (pixel < 0)
        std::fill_n(to, pixels * shape.channels, T{});
      else
        each_pixel(shape, x, pixel, pixels, to, [&](T* of_patch, T* of_x, Index n) {
          std::memcpy(of_patch, of_x, static_cast<std::size_t>(n) * sizeof(T));
        });
    });
  }

  void scatter(const PatchShape& shape, View patches, View x, bool add) override {
    if (!add)
      for (Index pixel = 0; pixel < x.rows; ++pixel)
        std::fill_n(x.as<T>() + pixel * x.columns + shape.first_channel, shape.channels, T{});
    T* in = patches.as<T>();
    each_run(shape, x, patches, [&](Index patch, Index pixel, Index pixels) {
      if (pixel < 0) return;
      each_pixel(shape, x, pixel, pixels, in + patch, [&](T* of_patch, T* of_x, Index n) {
        each_vector<T>(n, [=](auto at) { at.put(of_x, at(of_x) + at(of_patch)); });
      });
    });
  }

  void group_norm(const GroupNormShape& shape, View x, View gain, View bias, View y,
                  View statistics) override {
    const Index n = x.columns, rows = x.rows / shape.images, each = n / shape.groups;
    const T count = static_cast<T>(rows * each);
    resize(n);
    for (Index image = 0; image < shape.images; ++image) {
      const T* in = x.as<T>() + image * rows * n;
      T* out = y.as<T>() + image * rows * n;
      T* of_image = statistics.as<T>() + image * 2 * shape.groups;
      T *sums = first_.data(), *means = second_.data(), *scales = third_.data();
      column_sums(rows, n, sums, [=](auto at, Index row) { return at(in + row * n); });
      for (Index c = 0; c < n; ++c) means[c] = group_sum(sums, c / each, each) / count;
      column_sums(rows, n, sums, [=](auto at, Index row) {
        const Vec<T> off = at(in + row * n) - at(means);
        return off * off;
      });
      for (Index c = 0; c < n; ++c) {
        const T variance = group_sum(sums, c / each, each) / count;
        const T r = T{1} / std::sqrt(variance + static_cast<T>(shape.epsilon));
        of_image[2 * (c / each)] = means[c];
        of_image[2 * (c / each) + 1] = r;
        scales[c] = r * gain.as<T>()[c];
      }
      const T* shifts = bias.as<T>();
      for (Index row = 0; row < rows; ++row)
        each_vector<T>(n, [=, relu = shape.relu](auto at) {
          const Vec<T> value = (at(in + row * n) - at(means)) * at(scales) + at(shifts);
          at.put(out + row * n, relu ? (value < T{0} ? Vec<T>{} : value) : value);
        });
    }
  }

  void group_norm_backward(const GroupNormShape& shape, const GroupNormBackward& what) override {
    const Index n = what.x.columns, rows = what.x.rows / shape.images, each = n / shape.groups;
    const T count = static_cast<T>(rows * each);
    resize(n);
    if (what.gain_gradient && !what.add_gain) std::fill_n(what.gain_gradient.as<T>(), n, T{});
    if (what.bias_gradient && !what.add_bias) std::fill_n(what.bias_gradient.as<T>(), n, T{});
    const T *gains = what.gain.as<T>(), *shifts = what.bias.as<T>();
    for (Index image = 0; image < shape.images; ++image) {
      const T* in = what.x.as<T>() + image * rows * n;
      const T* dy = what.y_gradient.as<T>() + image * rows * n;
      const T* of_image = what.statistics.as<T>() + image * 2 * shape.groups;
      T *means = first_.data(), *rs = second_.data();
      for (Index c = 0; c < n; ++c) {
        means[c] = of_image[2 * (c / each)];
        rs[c] = of_image[2 * (c / each) + 1];
      }
      const auto normal = [=](auto at, Index row) {
        return (at(in + row * n) - at(means)) * at(rs);
      };
      const auto slope = [=, relu = shape.relu](auto at, Index row) {
        const Vec<T> d = at(dy + row * n);
        if (!relu) return d;
        const Vec<T> value = normal(at, row) * at(gains) + at(shifts);
        return value > T{0} ? d : Vec<T>{};
      };
      T *of_bias = third_.data(), *of_gain = fourth_.data();
      column_sums(rows, n, of_bias, slope);
      column_sums(rows, n, of_gain,
                  [=](auto at, Index row) { return slope(at, row) * normal(at, row); });
      add_to(what.gain_gradient, of_gain);
      add_to(what.bias_gradient, of_bias);
      if (!what.x_gradient) continue;
      for (Index c = 0; c < n; ++c) {
        of_bias[c] *= gains[c];
        of_gain[c] *= gains[c];
      }
      spread_groups(of_bias, n, each, count);
      spread_groups(of_gain, n, each, count);
      T* dx = what.x_gradient.as<T>() + image * rows * n;
      for (Index row = 0; row < rows; ++row)
        each_vector<T>(n, [=, add = what.add_x](auto at) {
          const Vec<T> d =
              at(rs) * (slope(at, row) * at(gains) - at(of_bias) - normal(at, row) * at(of_gain));
          at.put(dx + row * n, add ? at(dx + row * n) + d : d);
        });
    }
  }

  void upsample_add(std::int64_t width, View x, View base, View y) override {
    const Index n = x.columns;
    each_enlarged(width, y, [&](Index fine, Index coarse) {
      const T *in = x.as<T>() + coarse * n, *under = base.as<T>() + fine * n;
      T* out = y.as<T>() + fine * n;
      each_vector<T>(n, [=](auto at) { at.put(out, at(under) + at(in)); });
    });
  }

  void upsample_backward(std::int64_t width, View y_gradient, View x_gradient, bool add) override {
    const Index n = x_gradient.columns;
    if (!add) std::fill_n(x_gradient.as<T>(), x_gradient.elements(), T{});
    each_enlarged(width, y_gradient, [&](Index fine, Index coarse) {
      const T* dy = y_gradient.as<T>() + fine * n;
      T* dx = x_gradient.as<T>() + coarse * n;
      each_vector<T>(n, [=](auto at) { at.put(dx, at(dx) + at(dy)); });
    });
  }

 private:
  /// work(element of `patches`, first pixel of x or -1 outside, pixels) for every row of every
  /// patch, cut where it leaves the image.
  template <class Work>
  static void each_run(const PatchShape& shape, View x, View patches, const Work& work) {
    const Index across = shape.out_width(), down = shape.out_height(), k = shape.kernel;
    const Index images = x.rows / (shape.height * shape.width);
    Index patch = 0;
    for (Index image = 0; image < images; ++image)
      for (Index row = 0; row < down * across; ++row, patch += patches.columns) {
        const Index top = row / across * shape.stride - shape.padding;
        const Index left = row % across * shape.stride - shape.padding;
        const Index before = std::clamp<Index>(-left, 0, k);
        const Index after = std::clamp<Index>(left + k - shape.width, 0, k - before);
        const Index inside = k - before - after;
        for (Index y = 0; y < k; ++y) {
          const Index at = patch + y * k * shape.channels;
          const bool outside = top + y < 0 || top + y >= shape.height;
          if (outside || inside == 0) {
            work(at, -1, k);
            continue;
          }
          if (before > 0) work(at, -1, before);
          work(at + before * shape.channels,
               (image * shape.height + top + y) * shape.width + left + before, inside);
          if (after > 0) work(at + (before + inside) * shape.channels, -1, after);
        }
      }
  }

  /// work(elements of the patch, elements of x, number) for `pixels` pixels of a row.
  template <class Work>
  static void each_pixel(const PatchShape& shape, View x, Index pixel, Index pixels, T* patch,
                         const Work& work) {
    T* from = x.as<T>() + pixel * x.columns + shape.first_channel;
    if (shape.channels == x.columns) return work(patch, from, pixels * shape.channels);
    for (Index i = 0; i < pixels; ++i)
      work(patch + i * shape.channels, from + i * x.columns, shape.channels);
  }

  /// work(fine pixel, coarse pixel)
  template <class Work>
  static void each_enlarged(Index width, View fine, const Work& work) {
    for (Index pixel = 0; pixel < fine.rows; ++pixel)
      work(pixel, pixel / (4 * width) * width + pixel % (2 * width) / 2);
  }

  template <class Term>
  static void column_sums(Index rows, Index n, T* sums, const Term& term) {
    each_vector<T>(n, [&](auto at) {
      Vec<T> sum = {};
      for (Index row = 0; row < rows; ++row) sum += term(at, row);
      at.put(sums, sum);
    });
  }
  static T group_sum(const T* sums, Index group, Index each) {
    T sum{};
    for (Index c = group * each; c < (group + 1) * each; ++c) sum += sums[c];
    return sum;
  }
  /// Each channel gets its group's sum over `count`.
  static void spread_groups(T* sums, Index n, Index each, T count) {
    for (Index c = 0; c < n; c += each)
      std::fill_n(sums + c, each, group_sum(sums, c / each, each) / count);
  }
  static void add_to(View gradient, const T* sums) {
    if (!gradient) return;
    for (Index c = 0; c < gradient.elements(); ++c) gradient.as<T>()[c] += sums[c];
  }
  void resize(Index channels) {
    for (auto* numbers : {&first_, &second_, &third_, &fourth_})
      numbers->resize(static_cast<std::size_t>(channels));
  }

  std::vector<T> first_ = {}, second_ = {}, third_ = {}, fourth_ = {};  // of a channel
};

}  // namespace bench::training::BENCH_ISA

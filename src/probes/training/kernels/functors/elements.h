// Bodies that make each element from elements at the same place: at<width>(i) makes `width`
// neighbours from i on. T is float, Bf16 or F16; arithmetic is f32.
#pragma once

#include <math.h>

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

template <class T>
struct AddElements {
  const T *a, *b;
  T* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto left = load_pack<width>(a + i), right = load_pack<width>(b + i);
    Pack<T, width> sum;
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] = T(static_cast<float>(left.at[k]) + static_cast<float>(right.at[k]));
    store_pack(y + i, sum);
  }
};

template <class T>
struct CopyElements {
  const T* x;
  T* y;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(x + i);
    if (add) {
      const auto before = load_pack<width>(y + i);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k)
        pack.at[k] = T(static_cast<float>(pack.at[k]) + static_cast<float>(before.at[k]));
    }
    store_pack(y + i, pack);
  }
};

/// (1 + tanh u) / 2 = 1 / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3): GPT-2's GELU is x times
/// it.
struct Gelu {
  static constexpr float kScale = 0.7978845608028654f;
  static constexpr float kCube = 0.044715f;
  static BENCH_BOTH float share(float x) {
    return 1.0f / (1.0f + expf(-2.0f * kScale * (x + kCube * x * x * x)));
  }
  static BENCH_BOTH float slope(float x) {
    const float s = share(x);
    return s + x * s * (1.0f - s) * kScale * (2.0f + 6.0f * kCube * x * x);
  }
};

template <class T>
struct GeluForward {
  const T* x;
  T* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(x + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float v = static_cast<float>(pack.at[k]);
      pack.at[k] = T(v * Gelu::share(v));
    }
    store_pack(y + i, pack);
  }
};

template <class T>
struct GeluBackward {
  const T *x, *y_gradient;
  T* x_gradient;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto in = load_pack<width>(x + i), dy = load_pack<width>(y_gradient + i);
    auto dx = load_if<width>(add, x_gradient + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      dx.at[k] = T(static_cast<float>(dx.at[k]) +
                   static_cast<float>(dy.at[k]) * Gelu::slope(static_cast<float>(in.at[k])));
    store_pack(x_gradient + i, dx);
  }
};

}  // namespace bench::training

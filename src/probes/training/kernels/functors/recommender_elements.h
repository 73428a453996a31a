// Elementwise bodies of click models, in f32; see elements.h and
// row_elements.h for how they are called.
#pragma once

#include <math.h>

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

/// y may be x.
struct ReluForward {
  const float* x;
  float* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(x + i);
    // What is not a number stays so: a run that has failed must not look healthy.
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) pack.at[k] = pack.at[k] < 0.0f ? 0.0f : pack.at[k];
    store_pack(y + i, pack);
  }
};

/// x_gradient may be y_gradient.
struct ReluBackward {
  const float *y, *y_gradient;
  float* x_gradient;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto out = load_pack<width>(y + i), dy = load_pack<width>(y_gradient + i);
    auto dx = load_if<width>(add, x_gradient + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) dx.at[k] += out.at[k] > 0.0f ? dy.at[k] : 0.0f;
    store_pack(x_gradient + i, dx);
  }
};

struct CrossForward {
  const float *x0, *u, *x;
  float* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto a = load_pack<width>(x0 + i), b = load_pack<width>(u + i);
    auto sum = load_pack<width>(x + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum.at[k] += a.at[k] * b.at[k];
    store_pack(y + i, sum);
  }
};

/// Both gradients from one look at y's; a null one is absent.
struct CrossGradients {
  const float *x0, *u, *y_gradient;
  float *x0_gradient, *u_gradient;
  bool add_x0, add_u;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto dy = load_pack<width>(y_gradient + i);
    if (x0_gradient) put(dy, load_pack<width>(u + i), x0_gradient + i, add_x0);
    if (u_gradient) put(dy, load_pack<width>(x0 + i), u_gradient + i, add_u);
  }

 private:
  template <int width>
  static BENCH_BOTH void put(const Pack<float, width>& dy, const Pack<float, width>& other,
                             float* gradient, bool add) {
    auto sum = load_if<width>(add, gradient);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum.at[k] += dy.at[k] * other.at[k];
    store_pack(gradient, sum);
  }
};

/// Copies columns of every row from one matrix to another; `from` and `to` point to the first of
/// them.
struct CopyColumns {
  const float* from;
  float* to;
  std::int64_t from_stride, to_stride;  // elements from row to row
  std::int64_t count;
  bool add;
  BENCH_BOTH std::int64_t columns() const { return count; }
  /// Whether each row's first column is aligned for packs of `width`.
  bool fits(std::int64_t from_column, std::int64_t to_column, int width) const {
    return from_column % width == 0 && to_column % width == 0 && from_stride % width == 0 &&
           to_stride % width == 0;
  }
  template <int width>
  BENCH_BOTH void at(std::int64_t row, std::int64_t column) const {
    float* out = to + row * to_stride + column;
    const auto in = load_pack<width>(from + row * from_stride + column);
    auto sum = load_if<width>(add, out);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) sum.at[k] += in.at[k];
    store_pack(out, sum);
  }
};

/// One click a thread.
struct ClickLosses {
  float* logits;
  const float* labels;
  double* losses;
  float gradient_scale;  // 0: losses alone
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    static_assert(width == 1);
    const float z = logits[i], label = labels[i];
    // log(1 + e^z) - label z, without overflow of the exponential.
    const float small = expf(-fabsf(z));
    const float rise = z > 0.0f ? z - label * z : -label * z;
    losses[i] = static_cast<double>(rise) + static_cast<double>(log1pf(small));
    if (gradient_scale == 0.0f) return;
    const float probability = (z > 0.0f ? 1.0f : small) / (1.0f + small);
    logits[i] = gradient_scale * (probability - label);
  }
};

}  // namespace bench::training

// The optimizers' bodies. Parameters in bf16 or f16 are rounded from their f32 master.
#pragma once

#include <math.h>

#include "probes/training/kernels/functors/portable.h"
#include "probes/training/kernels/optimizer.h"

namespace bench::training {

/// The value of a parameter before the update: the master if there is one.
template <int width, class T>
BENCH_BOTH Pack<float, width> parameter_before(const T* parameters, const float* master,
                                               std::int64_t i) {
  if (master) return load_pack<width>(master + i);
  const auto pack = load_pack<width>(parameters + i);
  Pack<float, width> wide;
  BENCH_UNROLL
  for (int k = 0; k < width; ++k) wide.at[k] = static_cast<float>(pack.at[k]);
  return wide;
}

template <int width, class T>
BENCH_BOTH void store_parameter(const Pack<float, width>& value, T* parameters, float* master,
                                std::int64_t i) {
  Pack<T, width> pack;
  BENCH_UNROLL
  for (int k = 0; k < width; ++k) pack.at[k] = T(value.at[k]);
  store_pack(parameters + i, pack);
  if (master) store_pack(master + i, value);
}

template <class T>
struct AdamwElements {
  T* parameters;
  const T* gradients;
  float *first, *second;
  float* master;  // null where parameters are f32
  bool start;     // the master is not set yet
  const StepNumbers* step;
  float beta1, beta2, epsilon, decay;

  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const float keep = 1.0f - static_cast<float>(step->rate) * decay;
    const float rate = static_cast<float>(step->rate * step->correction1);
    const float inverse2 = static_cast<float>(step->correction2);
    const float scale = static_cast<float>(step->gradient_scale);
    auto p = parameter_before<width>(parameters, start ? nullptr : master, i);
    auto m = load_pack<width>(first + i), v = load_pack<width>(second + i);
    const auto g = load_pack<width>(gradients + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float q = static_cast<float>(g.at[k]) * scale;
      m.at[k] = beta1 * m.at[k] + (1.0f - beta1) * q;
      v.at[k] = beta2 * v.at[k] + (1.0f - beta2) * q * q;
      p.at[k] = keep * p.at[k] - rate * m.at[k] / (sqrtf(v.at[k] * inverse2) + epsilon);
    }
    store_pack(first + i, m);
    store_pack(second + i, v);
    store_parameter(p, parameters, master, i);
  }
};

template <class T>
struct SgdElements {
  T* parameters;
  const T* gradients;
  float* momentum;
  float* master;
  bool start;
  const StepNumbers* step;
  float factor, decay;

  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const float rate = static_cast<float>(step->rate);
    const float scale = static_cast<float>(step->gradient_scale);
    auto p = parameter_before<width>(parameters, start ? nullptr : master, i);
    auto m = load_pack<width>(momentum + i);
    const auto g = load_pack<width>(gradients + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      m.at[k] = factor * m.at[k] + static_cast<float>(g.at[k]) * scale + decay * p.at[k];
      p.at[k] -= rate * m.at[k];
    }
    store_pack(momentum + i, m);
    store_parameter(p, parameters, master, i);
  }
};

}  // namespace bench::training

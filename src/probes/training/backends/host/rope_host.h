// Rotation by position on one thread.
#pragma once

#include <type_traits>

#include "probes/training/backends/host/vector.h"
#include "probes/training/kernels/attention.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Rope final : public RopeKernels {
 public:
  void rotate(const AttentionShape& shape, bool back, View x, View angles, View y,
              bool add) override {
    switch (shape.head_dim / 2) {  // a constant length lets the compiler unroll a head
      case 8:
        return rows<8>(shape, back, x, angles, y, add);
      case 16:
        return rows<16>(shape, back, x, angles, y, add);
      case 32:
        return rows<32>(shape, back, x, angles, y, add);
      case 64:
        return rows<64>(shape, back, x, angles, y, add);
      default:
        return rows<0>(shape, back, x, angles, y, add);
    }
  }

 private:
  template <int known_half>
  static void rows(const AttentionShape& shape, bool back, View x, View angles, View y, bool add) {
    const Index half = known_half > 0 ? known_half : shape.head_dim / 2;
    const Index rotated = shape.heads + shape.kv_heads;
    const T sign = back ? T{-1} : T{1};
    const T keep = add ? T{1} : T{0};
    for (Index i = 0; i < x.rows; ++i) {
      const T* in = x.as<T>() + i * x.columns;
      T* out = y.as<T>() + i * x.columns;
      const T* cosine = angles.as<T>() + (i % shape.sequence) * 2 * half;
      for (Index h = 0; h < rotated; ++h)
        head<known_half>(half, sign, in + h * 2 * half, cosine, out + h * 2 * half, keep);
      if (in == out) continue;
      for (Index j = rotated * 2 * half; j < x.columns; ++j) out[j] = add ? out[j] + in[j] : in[j];
    }
  }

  template <int known_half>
  static inline __attribute__((always_inline)) void head(Index half, T sign, const T* in,
                                                         const T* cosine, T* out, T keep) {
    const T* sine = cosine + half;
    if constexpr (known_half > 0) {
      T first[known_half], second[known_half];
      for (int k = 0; k < known_half; ++k) {
        first[k] = in[k] * cosine[k] - in[k + known_half] * (sign * sine[k]);
        second[k] = in[k] * (sign * sine[k]) + in[k + known_half] * cosine[k];
      }
      if (keep != T{0})
        for (int k = 0; k < known_half; ++k) {
          first[k] += out[k];
          second[k] += out[k + known_half];
        }
      for (int k = 0; k < known_half; ++k) {
        out[k] = first[k];
        out[k + known_half] = second[k];
      }
    } else {
      for (Index k = 0; k < half; ++k) {
        const T a = in[k], b = in[k + half], c = cosine[k], s = sign * sine[k];
        out[k] = (keep != T{0} ? out[k] : T{}) + a * c - b * s;
        out[k + half] = (keep != T{0} ? out[k + half] : T{}) + a * s + b * c;
      }
    }
  }
};

}  // namespace bench::training::BENCH_ISA

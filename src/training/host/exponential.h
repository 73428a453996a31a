// e^x without branches or calls, so that loops over it become vector code. f32: relative error
// below 2e-7 over the whole range (reduction by ln 2 in two parts, minimax polynomial as in Cephes'
// expf); f64, used only for gradient checks, calls the library.
#pragma once

#include <cmath>

#include "training/host/vector.h"

namespace bench::training::BENCH_ISA {

inline __attribute__((always_inline)) Vec<float> exponential(Vec<float> x) {
  const Vec<float> lowest = Vec<float>{} - 87.0f, highest = Vec<float>{} + 88.0f;
  const Mask<float> vanishes = x < lowest;
  x = x > highest ? highest : x;
  constexpr float kRounder = 12582912.0f;  // 1.5 x 2^23: adding it rounds to an integer
  const Vec<float> n = (x * 1.44269504088896341f + kRounder) - kRounder;
  const Vec<float> r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Vec<float> p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const Mask<float> bits = (__builtin_convertvector(n, Mask<float>) + 127) << 23;
  Vec<float> power;
  __builtin_memcpy(&power, &bits, sizeof power);
  return vanishes ? Vec<float>{} : p * power;
}

inline Vec<double> exponential(Vec<double> x) {
  for (int i = 0; i < kWidth<double>; ++i) x[i] = std::exp(x[i]);
  return x;
}

template <class T>
inline __attribute__((always_inline)) T exponential_of(T x) {
  return exponential(Vec<T>{} + x)[0];
}

/// x[i] = e^(x[i] - offset); returns the sum.
template <class T>
inline T exponentials(Index n, T* x, T offset) {
  return row_sum<T>(n, [=](auto at) {
    const Vec<T> e = first_lanes<T>(exponential(at(x) - offset), at.count, T{});
    at.put(x, e);
    return e;
  });
}

}  // namespace bench::training::BENCH_ISA

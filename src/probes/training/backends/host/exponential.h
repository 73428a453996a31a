// e^x without branches or calls, so that loops over it become vector code. f32: relative error
// below 2e-7 over the whole range (reduction by ln 2 in two parts, minimax polynomial as in Cephes'
// expf); f64, of which only checks of gradients are made, is the library's.
#pragma once

#include <cmath>
#include <cstdint>

#include "probes/training/backends/host/vector.h"

namespace bench::training::BENCH_ISA {

inline __attribute__((always_inline)) float exponential(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float kRounder = 12582912.0f;  // 1.5 x 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504088896341f + kRounder;
  const float n = shifted - kRounder;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::int32_t bits = (static_cast<std::int32_t>(n) + 127) << 23;
  return p * __builtin_bit_cast(float, bits);
}

inline double exponential(double x) { return std::exp(x); }

/// x[i] = e^(x[i] - offset); returns the sum.
template <class T>
inline T exponentials(Index n, T* x, T offset) {
  for (Index i = 0; i < n; ++i) x[i] = exponential(x[i] - offset);
  return row_sum<T>(n, [x](auto at) { return at(x); });
}

}  // namespace bench::training::BENCH_ISA

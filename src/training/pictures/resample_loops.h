// The loops themselves, for files compiled for different instruction sets. All names in this file
// are internal.
#pragma once

#include <cstring>

#include "training/pictures/resample_kernels.h"

namespace bench::training {
namespace {

// Compiler vectors: the same code for x86-64 and aarch64.
using Float4 [[gnu::vector_size(16)]] = float;
using Float8 [[gnu::vector_size(32)]] = float;

inline Float4 load4(const float* from) {
  Float4 value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

inline void join(Float4 a, Float4 b, Float8& to) {
#if __has_builtin(__builtin_shufflevector)
  to = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#else  // g++ 11
  to = Float8{a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]};
#endif
}

inline void widen_loop(const std::uint8_t* from, std::size_t count, float* to) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<float>(static_cast<int>(from[i]));
}

/// Taps: the number at compile time; 0: given by `any`.
template <std::size_t Taps>
void along_loop(const float* row, std::span<const int> firsts, std::size_t any,
                const float* weights, float* to) {
  const std::size_t taps = Taps > 0 ? Taps : any;
  constexpr std::size_t kPair = 2 * kPixelLanes;
  for (std::size_t i = 0; i + 1 < firsts.size(); i += 2) {
    const float* a = row + static_cast<std::size_t>(firsts[i]) * kPixelLanes;
    const float* b = row + static_cast<std::size_t>(firsts[i + 1]) * kPixelLanes;
    Float8 sum = {};
    for (std::size_t k = 0; k < taps; ++k) {
      Float8 weight, pixels;
      std::memcpy(&weight, weights, sizeof(weight));
      join(load4(a + k * kPixelLanes), load4(b + k * kPixelLanes), pixels);
      sum = k == 0 ? pixels * weight : sum + pixels * weight;
      weights += kPair;
    }
    std::memcpy(to, &sum, sizeof(sum));
    to += kPair;
  }
}

inline void along_any(const float* row, std::span<const int> first, std::size_t taps,
                      const float* weights, float* to) {
  constexpr decltype(&along_loop<0>) kKnown[] = {along_loop<0>, along_loop<1>, along_loop<2>,
                                                 along_loop<3>, along_loop<4>, along_loop<5>,
                                                 along_loop<6>, along_loop<7>};
  kKnown[taps < 8 ? taps : 0](row, first, taps, weights, to);
}

inline std::uint8_t to_byte(float value) {
  return static_cast<std::uint8_t>(static_cast<std::int32_t>(value + 0.5f));
}

inline void down_two(const float* a, const float* b, const float* w, std::size_t count,
                     std::uint8_t* to) {
  const float v = w[0], u = w[1];
  for (std::size_t i = 0; i < count; ++i) to[i] = to_byte(a[i] * v + b[i] * u);
}

inline void down_three(const float* a, const float* b, const float* c, const float* w,
                       std::size_t count, std::uint8_t* to) {
  const float v = w[0], u = w[1], t = w[2];
  for (std::size_t i = 0; i < count; ++i) to[i] = to_byte(a[i] * v + b[i] * u + c[i] * t);
}

inline void down_four(const float* const* rows, const float* w, std::size_t count,
                      std::uint8_t* to) {
  const float *a = rows[0], *b = rows[1], *c = rows[2], *d = rows[3];
  const float v = w[0], u = w[1], t = w[2], s = w[3];
  for (std::size_t i = 0; i < count; ++i)
    to[i] = to_byte(a[i] * v + b[i] * u + c[i] * t + d[i] * s);
}

inline void down_any(std::span<const float* const> rows, const float* w, std::size_t count,
                     std::uint8_t* to) {
  if (rows.size() == 2) return down_two(rows[0], rows[1], w, count, to);
  if (rows.size() == 3) return down_three(rows[0], rows[1], rows[2], w, count, to);
  if (rows.size() == 4) return down_four(rows.data(), w, count, to);
  constexpr std::size_t kPiece = 64;  // floats summed at once, in registers or L1
  for (std::size_t at = 0; at < count; at += kPiece) {
    float sums[kPiece] = {};
    const std::size_t size = count - at < kPiece ? count - at : kPiece;
    for (std::size_t k = 0; k < rows.size(); ++k)
      for (std::size_t i = 0; i < size; ++i) sums[i] += rows[k][at + i] * w[k];
    for (std::size_t i = 0; i < size; ++i) to[at + i] = to_byte(sums[i]);
  }
}

/// Loads pixels as words, because these vectorise better than every fourth byte. Supported hosts
/// are little-endian.
inline void planes_loop(const std::uint8_t* __restrict__ pixels, std::size_t count,
                        const float* scales, const float* shifts, float* __restrict__ to) {
  float* __restrict__ red = to;
  float* __restrict__ green = to + count;
  float* __restrict__ blue = to + 2 * count;
  const float a = scales[0], b = scales[1], c = scales[2];
  const float r = shifts[0], g = shifts[1], s = shifts[2];
  const auto number = [](std::uint32_t byte) {
    return static_cast<float>(static_cast<std::int32_t>(byte & 255));
  };
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t word;
    std::memcpy(&word, pixels + i * kPixelLanes, sizeof(word));
    red[i] = number(word) * a + r;
    green[i] = number(word >> 8) * b + g;
    blue[i] = number(word >> 16) * c + s;
  }
}

constexpr ResampleKernels kLoops = {widen_loop, along_any, down_any, planes_loop};

}  // namespace
}  // namespace bench::training

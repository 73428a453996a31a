// Normalization, one block of threads per row: row<width>(block, i). Formulas as in
// backends/host/norm_host.h; sums over a row are f32.
#pragma once

#include <math.h>

#include "training/kernels/functors/portable.h"

namespace bench::training {

/// work(column) for every pack of a row that is this thread's.
template <int width, class Block, class Work>
BENCH_BOTH void own_packs(std::int64_t n, int thread, const Work& work) {
  for (std::int64_t j = std::int64_t{thread} * width; j < n;
       j += std::int64_t{Block::kThreads} * width)
    work(j);
}

/// Sum over a row of term(column, k), k < width.
template <int width, class Block, class Term>
BENCH_BOTH float row_sum(Block& block, std::int64_t n, const Term& term) {
  typename Block::template Per<float> sums;
  block.each([&](int thread) {
    float sum = 0.0f;
    own_packs<width, Block>(n, thread, [&](std::int64_t j) { sum += term(j); });
    sums(thread) = sum;
  });
  return block.sum(sums);
}

template <class T>
struct RmsForward {
  static constexpr int kBlock = 128;  // threads of a row on a GPU
  const T *x, *gain;
  T* y;
  float* r;
  std::int64_t n;
  float epsilon;
  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    const T* in = x + i * n;
    const float squares = row_sum<width>(block, n, [&](std::int64_t j) {
      const auto pack = load_pack<width>(in + j);
      float sum = 0.0f;
      BENCH_UNROLL
      for (int k = 0; k < width; ++k)
        sum += static_cast<float>(pack.at[k]) * static_cast<float>(pack.at[k]);
      return sum;
    });
    const float inverse = 1.0f / sqrtf(squares / static_cast<float>(n) + epsilon);
    block.each([&](int thread) {
      if (thread == 0) r[i] = inverse;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        auto pack = load_pack<width>(in + j);
        const auto g = load_pack<width>(gain + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          pack.at[k] = T(static_cast<float>(pack.at[k]) * inverse * static_cast<float>(g.at[k]));
        store_pack(y + i * n + j, pack);
      });
    });
  }
};

/// Both norms' input gradient: dx = dy g r - (x - mean) of_x - of_mean. A root mean square norm has
/// neither mean nor of_mean.
template <class T, bool centred>
struct NormBackwardRows {
  static constexpr int kBlock = 128;
  const T *x, *gain, *output_gradient;
  const float* statistics;  // r; or mean and r
  T* input_gradient;
  std::int64_t n;
  bool add;
  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    const T *in = x + i * n, *dy = output_gradient + i * n;
    const float mean = centred ? statistics[2 * i] : 0.0f;
    const float r = centred ? statistics[2 * i + 1] : statistics[i];
    const auto slope_sum = [&](auto factor) {
      return row_sum<width>(block, n, [&](std::int64_t j) {
        const auto a = load_pack<width>(in + j), d = load_pack<width>(dy + j);
        const auto g = load_pack<width>(gain + j);
        float sum = 0.0f;
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          sum += static_cast<float>(d.at[k]) * static_cast<float>(g.at[k]) *
                 factor(static_cast<float>(a.at[k]));
        return sum;
      });
    };
    const float dot = slope_sum([=](float value) { return value - mean; });
    const float sum = centred ? slope_sum([](float) { return 1.0f; }) : 0.0f;
    const float of_x = dot * r * r * r / static_cast<float>(n);
    const float of_mean = sum * r / static_cast<float>(n);
    block.each([&](int thread) {
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        const auto a = load_pack<width>(in + j), d = load_pack<width>(dy + j);
        const auto g = load_pack<width>(gain + j);
        auto dx = load_if<width>(add, input_gradient + i * n + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          dx.at[k] = T(static_cast<float>(dx.at[k]) +
                       static_cast<float>(d.at[k]) * static_cast<float>(g.at[k]) * r -
                       (static_cast<float>(a.at[k]) - mean) * of_x - of_mean);
        store_pack(input_gradient + i * n + j, dx);
      });
    });
  }
};

template <class T>
struct LayerForward {
  static constexpr int kBlock = 128;
  const T *x, *gain, *bias;
  T* y;
  float* statistics;
  std::int64_t n;
  float epsilon;
  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    const T* in = x + i * n;
    const auto power_sum = [&](float centre, bool square) {
      return row_sum<width>(block, n, [&](std::int64_t j) {
        const auto pack = load_pack<width>(in + j);
        float sum = 0.0f;
        BENCH_UNROLL
        for (int k = 0; k < width; ++k) {
          const float d = static_cast<float>(pack.at[k]) - centre;
          sum += square ? d * d : d;
        }
        return sum;
      });
    };
    const float mean = power_sum(0.0f, false) / static_cast<float>(n);
    const float inverse = 1.0f / sqrtf(power_sum(mean, true) / static_cast<float>(n) + epsilon);
    block.each([&](int thread) {
      if (thread == 0) statistics[2 * i] = mean, statistics[2 * i + 1] = inverse;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        auto pack = load_pack<width>(in + j);
        const auto g = load_pack<width>(gain + j), b = load_pack<width>(bias + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          pack.at[k] =
              T((static_cast<float>(pack.at[k]) - mean) * inverse * static_cast<float>(g.at[k]) +
                static_cast<float>(b.at[k]));
        store_pack(y + i * n + j, pack);
      });
    });
  }
};

}  // namespace bench::training

// Dot products of all pairs of a row's features and their gradients, in f32: a block of threads for a
// row, whose features all threads read from shared memory. Every sum has one order.
#pragma once

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

/// Feature 0 is in `first`, the others are contiguous in `rest`.
struct DotFeatures {
  const float *first, *rest;
  int width, count;

  BENCH_BOTH int pairs() const { return count * (count - 1) / 2; }
  /// Elements of a row of results: the first feature, then the pairs.
  BENCH_BOTH std::int64_t columns() const { return width + pairs(); }
  /// From feature to feature in shared memory: odd, so that threads that read the same element of
  /// different features do not meet in a bank.
  BENCH_BOTH int stride() const { return width | 1; }
  std::int64_t shared_bytes() const { return count * stride() * std::int64_t{sizeof(float)}; }

  template <class Block>
  BENCH_BOTH void load(Block& block, std::int64_t row, float* shared) const {
    const float* own = first + row * width;
    const float* others = rest + row * (count - 1) * width;
    block.each([&](int thread) {
      for (int i = thread; i < count * width; i += Block::kThreads)
        shared[i / width * stride() + i % width] = i < width ? own[i] : others[i - width];
    });
  }
};

/// Unit (row, 0). Pairs come in the order (1, 0), (2, 0), (2, 1), (3, 0), ...
struct DotForward {
  DotFeatures z;
  float* y;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t, float* shared) const {
    z.load(block, row, shared);
    block.sync();
    float* out = y + row * z.columns();
    block.each([&](int thread) {
      for (int k = thread; k < z.width; k += Block::kThreads) out[k] = shared[k];
      int i = 1, before = 0;  // pairs of the features below i
      for (int pair = thread; pair < z.pairs(); pair += Block::kThreads) {
        while (pair >= before + i) before += i++;
        out[z.width + pair] =
            product(shared + i * z.stride(), shared + (pair - before) * z.stride());
      }
    });
  }

 private:
  BENCH_BOTH float product(const float* a, const float* b) const {
    float sum = 0.0f;
    for (int k = 0; k < z.width; ++k) sum += a[k] * b[k];
    return sum;
  }
};

/// Unit (row, 0). Feature i's gradient: the sum over all others j of the pair's gradient times
/// feature j; a null one is absent.
struct DotGradients {
  DotFeatures z;
  const float* y_gradient;
  float *first_gradient, *rest_gradient;
  bool add_first, add_rest;

  std::int64_t shared_bytes() const {
    return z.shared_bytes() + z.pairs() * std::int64_t{sizeof(float)};
  }

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t row, std::int64_t, float* shared) const {
    const float* dy = y_gradient + row * z.columns();
    float* pairs = shared + z.count * z.stride();
    z.load(block, row, shared);
    block.each([&](int thread) {
      for (int i = thread; i < z.pairs(); i += Block::kThreads) pairs[i] = dy[z.width + i];
    });
    block.sync();
    const int elements = rest_gradient ? z.count * z.width : z.width;
    block.each([&](int thread) {
      for (int i = (first_gradient ? 0 : z.width) + thread; i < elements; i += Block::kThreads) {
        const int feature = i / z.width, k = i % z.width;
        const float sum = sum_of_others(shared + k, pairs, feature, feature == 0 ? dy[k] : 0.0f);
        float* to = feature == 0 ? first_gradient + row * z.width + i
                                 : rest_gradient + (row * (z.count - 1) - 1) * z.width + i;
        *to = (feature == 0 ? add_first : add_rest) ? *to + sum : sum;
      }
    });
  }

 private:
  /// Of one element: `column` is that of feature 0.
  BENCH_BOTH float sum_of_others(const float* column, const float* pairs, int feature,
                                 float start) const {
    float lower = start, upper = 0.0f;
    const float* own = pairs + feature * (feature - 1) / 2;
    for (int j = 0; j < feature; ++j) lower += own[j] * column[j * z.stride()];
    for (int j = feature + 1; j < z.count; ++j)
      upper += pairs[j * (j - 1) / 2 + feature] * column[j * z.stride()];
    return lower + upper;
  }
};

}  // namespace bench::training

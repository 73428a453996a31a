// Cross entropy with its gradient, a block of threads for each row of logits: one pass for the
// largest and the sum of exponentials together, one that writes the gradient.
#pragma once

#include <math.h>

#include "probes/training/kernels/functors/norm_rows.h"
#include "probes/training/kernels/functors/row_elements.h"

namespace bench::training {

template <class T>
struct CrossEntropyRows {
  static constexpr int kBlock = 512;  // threads of a row on a GPU
  T* logits;
  const std::int32_t* targets;
  double* losses;
  std::int64_t n;
  float gradient_scale;  // 0: losses alone
  IdFault* fault;

  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    T* z = logits + i * n;
    const std::int32_t target = targets[i];
    const bool counts = target >= 0 && target < n;
    const float wanted = counts ? static_cast<float>(z[target]) : 0.0f;
    typename Block::template Per<float> most, sums;
    block.each([&](int thread) {
      if (thread == 0 && target >= n) report_id(fault, i, target, n);
      scan<width, Block>(z, thread, most(thread), sums(thread));
    });
    const float top = block.max(most);
    block.each([&](int thread) { sums(thread) *= expf(most(thread) - top); });
    const float sum = block.sum(sums);
    const float share = counts ? gradient_scale / sum : 0.0f;
    block.each([&](int thread) {
      if (thread == 0)
        losses[i] =
            counts ? log(static_cast<double>(sum)) + static_cast<double>(top - wanted) : 0.0;
      if (gradient_scale == 0.0f) return;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        auto pack = load_pack<width>(z + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          pack.at[k] = T(share * expf(static_cast<float>(pack.at[k]) - top) -
                         (counts && j + k == target ? gradient_scale : 0.0f));
        store_pack(z + j, pack);
      });
    });
  }

 private:
  template <int width, class Block>
  BENCH_BOTH void scan(const T* z, int thread, float& most, float& sum) const {
    most = -1e30f;
    sum = 0.0f;
    own_packs<width, Block>(n, thread, [&](std::int64_t j) {
      const auto pack = load_pack<width>(z + j);
      float top = most;
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) top = fmaxf(top, static_cast<float>(pack.at[k]));
      sum *= expf(most - top);
      most = top;
      BENCH_UNROLL
      for (int k = 0; k < width; ++k) sum += expf(static_cast<float>(pack.at[k]) - top);
    });
  }
};

}  // namespace bench::training

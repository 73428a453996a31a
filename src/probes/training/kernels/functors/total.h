// Sums of all elements of a tensor in f64, in two stages and one order: each block of threads
// leaves a partial sum, then one block sums those.
#pragma once

#include "probes/training/kernels/functors/portable.h"

namespace bench::training {

template <class T>
struct SquareTerm {
  const T* x;
  BENCH_BOTH double operator()(std::int64_t i) const {
    const auto value = static_cast<double>(static_cast<float>(x[i]));
    return value * value;
  }
};
struct WideTerm {
  const double* x;
  BENCH_BOTH double operator()(std::int64_t i) const { return x[i]; }
};

/// Unit (part, 0) of `parts` sums term(i) for i = part x threads + thread, then every parts x
/// threads further, to sums[part], or adds it to that.
template <class Term>
struct PartOfTotal {
  Term term;
  double* sums;
  std::int64_t count, parts;
  bool add;
  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t part, std::int64_t, float*) const {
    typename Block::template Per<double> own;
    block.each([&](int thread) {
      double sum = 0.0;
      for (std::int64_t i = part * Block::kThreads + thread; i < count;
           i += parts * Block::kThreads)
        sum += term(i);
      own(thread) = sum;
    });
    const double sum = block.sum(own);
    block.each([&](int thread) {
      if (thread == 0) sums[part] = (add ? sums[part] : 0.0) + sum;
    });
  }
};

}  // namespace bench::training

// Sums over tensors, and the group of norms, made of the bodies of this folder; see
// functor_kernels.h.
#pragma once

#include <algorithm>

#include "training/kernels/functors/norm_rows.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

// Sums down columns in two stages, always in the same order: each slab of rows leaves partial sums,
// then those are summed slab by slab.

/// The summands: a matrix, or the gradient of a norm's gain.
template <class T>
struct PlainTerm {
  const T* x;
  std::int64_t n;
  BENCH_BOTH float operator()(std::int64_t row, std::int64_t column) const {
    return static_cast<float>(x[row * n + column]);
  }
};
template <class T, bool centred>
struct GainTerm {
  const T *x, *output_gradient;
  const float* statistics;
  std::int64_t n;
  BENCH_BOTH float operator()(std::int64_t row, std::int64_t column) const {
    const float mean = centred ? statistics[2 * row] : 0.0f;
    const float r = centred ? statistics[2 * row + 1] : statistics[row];
    return static_cast<float>(output_gradient[row * n + column]) *
           (static_cast<float>(x[row * n + column]) - mean) * r;
  }
};

/// One slab's sum of one column, to partial[slab, column].
template <class Term>
struct SlabSums {
  Term term;
  float* partial;
  std::int64_t rows, n, slab_rows;
  BENCH_BOTH void slab(std::int64_t index, std::int64_t column) const {
    const std::int64_t end = (index + 1) * slab_rows < rows ? (index + 1) * slab_rows : rows;
    float sum = 0.0f;
    for (std::int64_t row = index * slab_rows; row < end; ++row) sum += term(row, column);
    partial[index * n + column] = sum;
  }
};

template <class T>
struct SumOfSlabs {
  const float* partial;
  T* sums;
  std::int64_t slabs, n;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t column) const {
    float sum = add ? static_cast<float>(sums[column]) : 0.0f;
    for (std::int64_t slab = 0; slab < slabs; ++slab) sum += partial[slab * n + column];
    sums[column] = T(sum);
  }
};

// Sums of all elements of a tensor in f64, in two stages and one order: each block of threads
// leaves a partial sum, then one block sums those.

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

/// sums[1, n] = sums down the columns of `rows` rows of term(row, column).
template <class T, class Launch, class Term>
void sum_columns(Launch& launch, const Term& term, std::int64_t rows, View sums, bool add) {
  constexpr std::int64_t kSlabs = 128;
  constexpr std::int64_t kLeastSlab = 16;  // fewer rows are faster to sum directly
  const std::int64_t n = sums.elements();
  const std::int64_t slab_rows = std::max((rows + kSlabs - 1) / kSlabs, kLeastSlab);
  const std::int64_t slabs = (rows + slab_rows - 1) / slab_rows;
  auto* partial = static_cast<float*>(launch.scratch(slabs * n * std::int64_t{sizeof(float)}));
  launch.slabs(SlabSums<Term>{term, partial, rows, n, slab_rows}, slabs, n);
  launch.template elements<1>(SumOfSlabs<T>{partial, sums.as<T>(), slabs, n, add}, n);
}

/// sum = the sum of term(i), i < count, or added to it.
template <class Launch, class Term>
void sum_all(Launch& launch, const Term& term, std::int64_t count, double* sum, bool add) {
  constexpr std::int64_t kParts = 512;
  auto* partial = static_cast<double*>(launch.scratch(kParts * std::int64_t{sizeof(double)}));
  launch.units(PartOfTotal<Term>{term, partial, count, kParts, false}, kParts, 1, 0);
  launch.units(PartOfTotal<WideTerm>{{partial}, sum, kParts, 1, add}, 1, 1, 0);
}

template <class T, class Launch>
class FunctorNorm final : public NormKernels {
 public:
  explicit FunctorNorm(Launch launch) : launch_(launch) {}
  void rms_forward(View x, View gain, double epsilon, View y, View statistics) override {
    const RmsForward<T> body{x.as<T>(), gain.as<T>(),
                             y.as<T>(), statistics.as<float>(),
                             x.columns, static_cast<float>(epsilon)};
    launch_.template blocks<kWidest<T>>(body, x.rows, x.columns);
  }
  void rms_backward(const NormBackward& what) override { backward<false>(what); }
  void layer_forward(View x, View gain, View bias, double epsilon, View y,
                     View statistics) override {
    const LayerForward<T> body{x.as<T>(),
                               gain.as<T>(),
                               bias.as<T>(),
                               y.as<T>(),
                               statistics.as<float>(),
                               x.columns,
                               static_cast<float>(epsilon)};
    launch_.template blocks<kWidest<T>>(body, x.rows, x.columns);
  }
  void layer_backward(const NormBackward& what) override { backward<true>(what); }

 private:
  template <bool centred>
  void backward(const NormBackward& what) {
    const T *x = what.x.as<T>(), *dy = what.output_gradient.as<T>();
    const std::int64_t n = what.x.columns, rows = what.x.rows;
    const float* statistics = what.statistics.as<float>();
    if (what.gain_gradient)
      sum_columns<T>(launch_, GainTerm<T, centred>{x, dy, statistics, n}, rows, what.gain_gradient,
                     what.add_gain);
    if (what.bias_gradient)
      sum_columns<T>(launch_, PlainTerm<T>{dy, n}, rows, what.bias_gradient, what.add_bias);
    if (!what.input_gradient) return;
    // Last: the input's gradient may share memory with the output's.
    const NormBackwardRows<T, centred> body{
        x, what.gain.as<T>(), dy, statistics, what.input_gradient.as<T>(), n, what.add_input};
    launch_.template blocks<kWidest<T>>(body, rows, n);
  }
  Launch launch_;
};

}  // namespace bench::training

// Sums over tensors, and the group of norms; see functor_kernels.h.
#pragma once

#include <math.h>

#include <algorithm>

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

/// The sum of one column of parts [rows, n] in f32, by one block in one order: of a gradient to
/// which each row contributes. Block (column, 0).
template <class T>
struct SumOfParts {
  const float* parts;
  T* sums;
  std::int64_t rows, n;
  bool add;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t column, std::int64_t, float*) const {
    typename Block::template Per<float> own;
    block.each([&](int thread) {
      own(thread) = 0.0f;
      for (std::int64_t row = thread; row < rows; row += Block::kThreads)
        own(thread) += parts[row * n + column];
    });
    const float sum = block.sum(own);
    block.each([&](int thread) {
      if (thread != 0) return;
      T* to = sums + column;
      *to = T((add ? static_cast<float>(*to) : 0.0f) + sum);
    });
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

// Normalization, one block of threads per row: row<width>(block, i). Formulas as in the host's Norm
// (host/kernel_set_host.h); sums over a row are f32.

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

// Sums over tensors, and the group of norms, made of the bodies of this folder; see
// functor_kernels.h.
#pragma once

#include <algorithm>

#include "probes/training/kernels/functors/column_sums.h"
#include "probes/training/kernels/functors/norm_rows.h"
#include "probes/training/kernels/functors/total.h"
#include "probes/training/kernels/norm.h"

namespace bench::training {

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

// The groups of kernels made of the bodies of this folder, for tensors of T (float or Bf16) and any
// way to launch bodies: on a GPU (backends/cuda), or on the CPU in loops (host_launch.h) to test
// them. What Launch has to have, says host_launch.h; it may be a reference.
#pragma once

#include <algorithm>

#include "probes/training/kernels/activation.h"
#include "probes/training/kernels/elementwise.h"
#include "probes/training/kernels/embedding.h"
#include "probes/training/kernels/functors/column_sums.h"
#include "probes/training/kernels/functors/elements.h"
#include "probes/training/kernels/functors/loss_rows.h"
#include "probes/training/kernels/functors/norm_rows.h"
#include "probes/training/kernels/functors/row_elements.h"
#include "probes/training/kernels/functors/total.h"
#include "probes/training/kernels/functors/updates.h"
#include "probes/training/kernels/loss.h"
#include "probes/training/kernels/norm.h"
#include "probes/training/kernels/optimizer.h"

namespace bench::training {

/// sums[1, n] = sums down the columns of `rows` rows of term(row, column).
template <class T, class Launch, class Term>
void sum_columns(Launch& launch, const Term& term, std::int64_t rows, View sums, bool add) {
  constexpr std::int64_t kSlabs = 128;
  const std::int64_t n = sums.elements();
  const std::int64_t slab_rows = (rows + kSlabs - 1) / kSlabs;
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
    // Last: the input's gradient may lie where the output's does.
    const NormBackwardRows<T, centred> body{
        x, what.gain.as<T>(), dy, statistics, what.input_gradient.as<T>(), n, what.add_input};
    launch_.template blocks<kWidest<T>>(body, rows, n);
  }
  Launch launch_;
};

template <class T, class Launch>
class FunctorActivation final : public ActivationKernels {
 public:
  explicit FunctorActivation(Launch launch) : launch_(launch) {}
  void swiglu_forward(View x, View y) override {
    launch_.template rows<kWidest<T>>(SwigluForward<T>{x.as<T>(), y.as<T>(), y.columns}, x.rows);
  }
  void swiglu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    launch_.template rows<kWidest<T>>(
        SwigluBackward<T>{x.as<T>(), y_gradient.as<T>(), x_gradient.as<T>(), y_gradient.columns,
                          add},
        x.rows);
  }
  void gelu_forward(View x, View y) override {
    launch_.template elements<kWidest<T>>(GeluForward<T>{x.as<T>(), y.as<T>()}, x.elements());
  }
  void gelu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    launch_.template elements<kWidest<T>>(
        GeluBackward<T>{x.as<T>(), y_gradient.as<T>(), x_gradient.as<T>(), add}, x.elements());
  }

 private:
  Launch launch_;
};

template <class T, class Launch>
class FunctorElementwise final : public ElementwiseKernels {
 public:
  explicit FunctorElementwise(Launch launch) : launch_(launch) {}
  void add(View a, View b, View y) override {
    launch_.template elements<kWidest<T>>(AddElements<T>{a.as<T>(), b.as<T>(), y.as<T>()},
                                          y.elements());
  }
  void copy(View x, View y, bool add) override {
    launch_.template elements<kWidest<T>>(CopyElements<T>{x.as<T>(), y.as<T>(), add}, y.elements());
  }
  void column_sums(View x, View sums, bool add) override {
    sum_columns<T>(launch_, PlainTerm<T>{x.as<T>(), x.columns}, x.rows, sums, add);
  }

 private:
  Launch launch_;
};

template <class T, class Launch>
class FunctorEmbedding final : public EmbeddingKernels {
 public:
  explicit FunctorEmbedding(Launch launch) : launch_(launch) {}
  void forward(View ids, View table, View y) override {
    launch_.template rows<kWidest<T>>(
        EmbeddingRows<T>{ids.as<std::int32_t>(), table.as<T>(), y.as<T>(), table.columns,
                         table.rows, launch_.fault()},
        y.rows);
  }
  void backward(View ids, View y_gradient, View table_gradient, bool add) override {
    if (!add)
      launch_.zero(table_gradient.data, table_gradient.elements() * std::int64_t{sizeof(T)});
    const auto [sorted, positions] =
        launch_.sorted(ids.as<std::int32_t>(), ids.rows, table_gradient.rows);
    launch_.template rows<kWidest<T>>(
        EmbeddingBackward<T>{sorted, positions, y_gradient.as<T>(), table_gradient.as<T>(),
                             ids.rows, table_gradient.columns, table_gradient.rows},
        ids.rows);
  }
  void add_positions(View x, View table, std::int64_t sequence, View y) override {
    launch_.template rows<kWidest<T>>(
        AddPositions<T>{x.as<T>(), table.as<T>(), y.as<T>(), x.columns, sequence}, x.rows);
  }
  void positions_backward(View y_gradient, std::int64_t sequence, View table_gradient,
                          bool add) override {
    launch_.template rows<kWidest<T>>(
        PositionsBackward<T>{y_gradient.as<T>(), table_gradient.as<T>(), y_gradient.columns,
                             sequence, y_gradient.rows / sequence, add},
        sequence);
  }

 private:
  Launch launch_;
};

template <class T, class Launch>
class FunctorLoss final : public LossKernels {
 public:
  explicit FunctorLoss(Launch launch) : launch_(launch) {}
  void cross_entropy(View logits, View targets, double gradient_scale, View losses) override {
    const CrossEntropyRows<T> body{
        logits.as<T>(), targets.as<std::int32_t>(),         losses.as<double>(),
        logits.columns, static_cast<float>(gradient_scale), launch_.fault()};
    launch_.template blocks<kWidest<T>>(body, logits.rows, logits.columns);
  }
  void add_up(View losses, View sum, bool add) override {
    sum_all(launch_, WideTerm{losses.as<double>()}, losses.elements(), sum.as<double>(), add);
  }

 private:
  Launch launch_;
};

template <class T, class Launch>
class FunctorUpdates final : public OptimizerKernels {
 public:
  explicit FunctorUpdates(Launch launch) : launch_(launch) {}
  void adamw(const AdamwRange& range) override {
    AdamwElements<T> body{};
    body.parameters = range.parameters.as<T>();
    body.gradients = range.gradients.as<T>();
    body.first = range.first.as<float>();
    body.second = range.second.as<float>();
    body.master = range.master.as<float>();
    body.start = range.start;
    body.beta1 = static_cast<float>(range.beta1);
    body.beta2 = static_cast<float>(range.beta2);
    body.epsilon = static_cast<float>(range.epsilon);
    body.keep = static_cast<float>(1.0 - range.rate * range.decay);
    body.rate = static_cast<float>(range.rate / range.correction1);
    body.inverse2 = static_cast<float>(1.0 / range.correction2);
    body.scale = static_cast<float>(range.gradient_scale);
    launch_.template elements<4>(body, range.parameters.elements());
  }
  void sgd(const SgdRange& range) override {
    SgdElements<T> body{};
    body.parameters = range.parameters.as<T>();
    body.gradients = range.gradients.as<T>();
    body.momentum = range.momentum.as<float>();
    body.master = range.master.as<float>();
    body.start = range.start;
    body.rate = static_cast<float>(range.rate);
    body.factor = static_cast<float>(range.factor);
    body.decay = static_cast<float>(range.decay);
    body.scale = static_cast<float>(range.gradient_scale);
    launch_.template elements<4>(body, range.parameters.elements());
  }
  /// Tables of a GPU are no part of this yet: Error(input) says so.
  void adagrad_rows(const AdagradRows&) override { launch_.refuse("row-wise Adagrad"); }
  double square_sum(View x) override {
    sum_all(launch_, SquareTerm<T>{x.as<T>()}, x.elements(), launch_.result(), false);
    return launch_.read_result();
  }

 private:
  Launch launch_;
};

}  // namespace bench::training

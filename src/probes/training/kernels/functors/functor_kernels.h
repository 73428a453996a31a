// The groups of kernels made of the bodies of this folder, for tensors of T (float, Bf16 or F16)
// and any way to launch bodies: on a GPU (backends/cuda), or on the CPU in loops (host_launch.h) to
// test them. What Launch has to have, says host_launch.h; it may be a reference.
#pragma once

#include "core/error.h"
#include "probes/training/kernels/activation.h"
#include "probes/training/kernels/elementwise.h"
#include "probes/training/kernels/embedding.h"
#include "probes/training/kernels/functors/elements.h"
#include "probes/training/kernels/functors/functor_norm.h"
#include "probes/training/kernels/functors/loss_rows.h"
#include "probes/training/kernels/functors/row_elements.h"
#include "probes/training/kernels/functors/updates.h"
#include "probes/training/kernels/loss.h"
#include "probes/training/kernels/optimizer.h"

namespace bench::training {

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
    body.step = range.step;
    body.beta1 = static_cast<float>(range.beta1);
    body.beta2 = static_cast<float>(range.beta2);
    body.epsilon = static_cast<float>(range.epsilon);
    body.decay = static_cast<float>(range.decay);
    launch_.template elements<4>(body, range.parameters.elements());
  }
  void sgd(const SgdRange& range) override {
    SgdElements<T> body{};
    body.parameters = range.parameters.as<T>();
    body.gradients = range.gradients.as<T>();
    body.momentum = range.momentum.as<float>();
    body.master = range.master.as<float>();
    body.start = range.start;
    body.step = range.step;
    body.factor = static_cast<float>(range.factor);
    body.decay = static_cast<float>(range.decay);
    launch_.template elements<4>(body, range.parameters.elements());
  }
  void adagrad_rows(const AdagradRows&) override {
    throw Error(ErrorKind::internal, "row-wise Adagrad is not available on a GPU",
                "use the host kernels for embedding tables");
  }
  double square_sum(View x) override {
    sum_all(launch_, SquareTerm<T>{x.as<T>()}, x.elements(), launch_.result(), false);
    return launch_.read_result();
  }

 private:
  Launch launch_;
};

}  // namespace bench::training

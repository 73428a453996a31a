// Kernel groups made of the bodies in this folder, for tensors of T (float, Bf16 or F16)
// and any way to launch bodies: on a GPU (DeviceLaunch in cuda/functor_set_of.h, which describes
// the calls), or, in tests, on the CPU in loops. Launch may be a reference.
#pragma once

#include <math.h>

#include "core/error.h"
#include "training/kernels/functors/functor_norm.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/functors/row_elements.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

// The optimizers' bodies. Parameters in bf16 or f16 are rounded from their f32 master.

/// The value of a parameter before the update: its master, if any.
template <int width, class T>
BENCH_BOTH Pack<float, width> parameter_before(const T* parameters, const float* master,
                                               std::int64_t i) {
  if (master) return load_pack<width>(master + i);
  const auto pack = load_pack<width>(parameters + i);
  Pack<float, width> wide;
  BENCH_UNROLL
  for (int k = 0; k < width; ++k) wide.at[k] = static_cast<float>(pack.at[k]);
  return wide;
}

template <int width, class T>
BENCH_BOTH void store_parameter(const Pack<float, width>& value, T* parameters, float* master,
                                std::int64_t i) {
  Pack<T, width> pack;
  BENCH_UNROLL
  for (int k = 0; k < width; ++k) pack.at[k] = T(value.at[k]);
  store_pack(parameters + i, pack);
  if (master) store_pack(master + i, value);
}

template <class T>
struct AdamwElements {
  T* parameters;
  const T* gradients;
  float *first, *second;
  float* master;  // null where parameters are f32
  bool start;     // the master is not set yet
  const StepNumbers* step;
  float beta1, beta2, epsilon, decay;

  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const float keep = 1.0f - static_cast<float>(step->rate) * decay;
    const float rate = static_cast<float>(step->rate * step->correction1);
    const float inverse2 = static_cast<float>(step->correction2);
    const float scale = static_cast<float>(step->gradient_scale);
    auto p = parameter_before<width>(parameters, start ? nullptr : master, i);
    auto m = load_pack<width>(first + i), v = load_pack<width>(second + i);
    const auto g = load_pack<width>(gradients + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float q = static_cast<float>(g.at[k]) * scale;
      m.at[k] = beta1 * m.at[k] + (1.0f - beta1) * q;
      v.at[k] = beta2 * v.at[k] + (1.0f - beta2) * q * q;
      p.at[k] = keep * p.at[k] - rate * m.at[k] / (sqrtf(v.at[k] * inverse2) + epsilon);
    }
    store_pack(first + i, m);
    store_pack(second + i, v);
    store_parameter(p, parameters, master, i);
  }
};

template <class T>
struct MomentumElements {
  T* parameters;
  const T* gradients;
  float* velocity;
  float* master;  // null where parameters are f32
  bool start;     // the master is not set yet
  const StepNumbers* step;
  float momentum, decay;

  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const float scale = static_cast<float>(step->gradient_scale);
    const float rate = static_cast<float>(step->rate);
    auto p = parameter_before<width>(parameters, start ? nullptr : master, i);
    auto v = load_pack<width>(velocity + i);
    const auto g = load_pack<width>(gradients + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      v.at[k] = momentum * v.at[k] + (static_cast<float>(g.at[k]) * scale + decay * p.at[k]);
      p.at[k] -= rate * v.at[k];
    }
    store_pack(velocity + i, v);
    store_parameter(p, parameters, master, i);
  }
};

// Elementwise bodies: at<width>(i) computes `width` elements from i on. Arithmetic is f32.

template <class T>
struct AddElements {
  const T *a, *b;
  T* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto left = load_pack<width>(a + i), right = load_pack<width>(b + i);
    Pack<T, width> sum;
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      sum.at[k] = T(static_cast<float>(left.at[k]) + static_cast<float>(right.at[k]));
    store_pack(y + i, sum);
  }
};

template <class T>
struct CopyElements {
  const T* x;
  T* y;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(x + i);
    if (add) {
      const auto before = load_pack<width>(y + i);
      BENCH_UNROLL
      for (int k = 0; k < width; ++k)
        pack.at[k] = T(static_cast<float>(pack.at[k]) + static_cast<float>(before.at[k]));
    }
    store_pack(y + i, pack);
  }
};

/// (1 + tanh u) / 2 = 1 / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3): GPT-2's GELU is x times
/// it.
struct Gelu {
  static constexpr float kScale = 0.7978845608028654f;
  static constexpr float kCube = 0.044715f;
  static BENCH_BOTH float share(float x) {
    return 1.0f / (1.0f + expf(-2.0f * kScale * (x + kCube * x * x * x)));
  }
  static BENCH_BOTH float slope(float x) {
    const float s = share(x);
    return s + x * s * (1.0f - s) * kScale * (2.0f + 6.0f * kCube * x * x);
  }
};

template <class T>
struct GeluForward {
  const T* x;
  T* y;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    auto pack = load_pack<width>(x + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k) {
      const float v = static_cast<float>(pack.at[k]);
      pack.at[k] = T(v * Gelu::share(v));
    }
    store_pack(y + i, pack);
  }
};

template <class T>
struct GeluBackward {
  const T *x, *y_gradient;
  T* x_gradient;
  bool add;
  template <int width>
  BENCH_BOTH void at(std::int64_t i) const {
    const auto in = load_pack<width>(x + i), dy = load_pack<width>(y_gradient + i);
    auto dx = load_if<width>(add, x_gradient + i);
    BENCH_UNROLL
    for (int k = 0; k < width; ++k)
      dx.at[k] = T(static_cast<float>(dx.at[k]) +
                   static_cast<float>(dy.at[k]) * Gelu::slope(static_cast<float>(in.at[k])));
    store_pack(x_gradient + i, dx);
  }
};

/// One thread's part of a row of n logits, in one pass: the largest and the sum of e^(logit -
/// largest).
template <int width, class Block, class T>
BENCH_BOTH void scan_logits(const T* z, std::int64_t n, int thread, float& most, float& sum) {
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

// Losses of a softmax with their gradient, a block of threads for each row of logits: one pass for
// the largest and the sum of exponentials together, one that writes the gradient.

struct CrossEntropyRow {
  BENCH_BOTH double loss(std::int64_t, double surprise) const { return surprise; }
  BENCH_BOTH double slope(std::int64_t, double) const { return 1.0; }
};

/// `rule` gives the loss of a row, and its derivative, from -log p of the row's target.
template <class T, class Rule>
struct SoftmaxLossRows {
  static constexpr int kBlock = 512;  // threads of a row on a GPU
  T* logits;
  const std::int32_t* targets;
  double* losses;
  std::int64_t n;
  float gradient_scale;  // 0: losses alone
  IdFault* fault;
  Rule rule;

  template <int width, class Block>
  BENCH_BOTH void row(Block& block, std::int64_t i) const {
    T* z = logits + i * n;
    const std::int32_t target = targets[i];
    const bool counts = target >= 0 && target < n;
    const float wanted = counts ? static_cast<float>(z[target]) : 0.0f;
    typename Block::template Per<float> most, sums;
    block.each([&](int thread) {
      if (thread == 0 && target >= n) report_id(fault, i, target, n);
      scan_logits<width, Block>(z, n, thread, most(thread), sums(thread));
    });
    const float top = block.max(most);
    block.each([&](int thread) { sums(thread) *= expf(most(thread) - top); });
    const float sum = block.sum(sums);
    const double surprise = log(static_cast<double>(sum)) + static_cast<double>(top - wanted);
    const float scale =
        counts ? gradient_scale * static_cast<float>(rule.slope(i, surprise)) : 0.0f;
    const float share = scale / sum;
    block.each([&](int thread) {
      if (thread == 0) losses[i] = counts ? rule.loss(i, surprise) : 0.0;
      if (gradient_scale == 0.0f) return;
      own_packs<width, Block>(n, thread, [&](std::int64_t j) {
        auto pack = load_pack<width>(z + j);
        BENCH_UNROLL
        for (int k = 0; k < width; ++k)
          pack.at[k] = T(share * expf(static_cast<float>(pack.at[k]) - top) -
                         (counts && j + k == target ? scale : 0.0f));
        store_pack(z + j, pack);
      });
    });
  }
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

/// table_gradient[ids[i] - first] += y_gradient[i] for the rows that the table has, after zeroing
/// unless `add`.
template <class T, class Launch>
void add_embedding_gradients(Launch& launch, View ids, std::int64_t first, View y_gradient,
                             View table_gradient, bool add) {
  if (!add) launch.zero(table_gradient.data, table_gradient.elements() * std::int64_t{sizeof(T)});
  const auto [sorted, positions] =
      launch.sorted(ids.as<std::int32_t>(), ids.rows, first, table_gradient.rows);
  launch.template rows<kWidest<T>>(
      EmbeddingBackward<T>{sorted, positions, y_gradient.as<T>(), table_gradient.as<T>(), ids.rows,
                           table_gradient.columns, table_gradient.rows},
      ids.rows);
}

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
    add_embedding_gradients<T>(launch_, ids, 0, y_gradient, table_gradient, add);
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
    const SoftmaxLossRows<T, CrossEntropyRow> body{logits.as<T>(),
                                                   targets.as<std::int32_t>(),
                                                   losses.as<double>(),
                                                   logits.columns,
                                                   static_cast<float>(gradient_scale),
                                                   launch_.fault(),
                                                   {}};
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
  void momentum(const MomentumRange& range) override {
    MomentumElements<T> body{};
    body.parameters = range.parameters.as<T>();
    body.gradients = range.gradients.as<T>();
    body.velocity = range.velocity.as<float>();
    body.master = range.master.as<float>();
    body.start = range.start;
    body.step = range.step;
    body.momentum = static_cast<float>(range.momentum);
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

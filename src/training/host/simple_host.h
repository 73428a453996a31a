// Activations, sums and copies, losses: loops that compile to vector code. For one thread.
#pragma once

#include <cmath>

#include "training/host/exponential.h"
#include "training/host/vector.h"
#include "training/kernels/checked_id.h"
#include "training/kernels/kernel_set.h"

namespace bench::training::BENCH_ISA {

template <class T>
inline void zero_unless(bool add, View sums) {
  if (sums && !add)
    for (Index i = 0; i < sums.elements(); ++i) sums.as<T>()[i] = T{};
}

/// Tables are f32 for any compute type.
class Bags final : public BagKernels {
 public:
  void pool(const BagIds& ids, View table, std::int64_t first_row, float* y,
            std::int64_t y_stride) override {
    const Index n = table.columns;
    for (Index bag = 0; bag < ids.bags; ++bag) {
      float* out = y + bag * y_stride;
      bool begun = false;
      for (Index i = 0; i < ids.lookups; ++i) {
        const Index row = ids.data[bag * ids.stride + i] - first_row;
        if (row < 0 || row >= table.rows) continue;
        const float* in = table.as<float>() + row * n;
        if (begun)
          each_vector<float>(n, [=](auto at) { at.put(out, at(out) + at(in)); });
        else
          each_vector<float>(n, [=](auto at) { at.put(out, at(in)); });
        begun = true;
      }
      if (!begun) each_vector<float>(n, [=](auto at) { at.put(out, Vec<float>{}); });
    }
  }

  void add(const BagIds& slots, const float* y_gradient, std::int64_t y_stride, float scale,
           View sums) override {
    const Index n = sums.columns;
    for (Index bag = 0; bag < slots.bags; ++bag) {
      const float* in = y_gradient + bag * y_stride;
      for (Index i = 0; i < slots.lookups; ++i) {
        const Index slot = slots.data[bag * slots.stride + i];
        if (slot < 0) continue;
        float* out = sums.as<float>() + slot * n;
        each_vector<float>(n, [=](auto at) { at.put(out, at(out) + scale * at(in)); });
      }
    }
  }
};

// Dot products of all pairs of a row's features. As many pairs as a vector has lanes are summed
// over lanes at a time, with half as many shuffles as separate sums.

template <class T>
struct Features {
  const T* first;
  const T* rest;
  Index width;
  Index count;
  inline __attribute__((always_inline)) const T* operator[](Index i) const {
    return i == 0 ? first : rest + (i - 1) * width;
  }
};

/// Selects lanes with the bit `half` from the second vector; `other`: with that bit inverted.
template <int half, int width, bool other>
struct Halves {
  static constexpr int lane(int l) { return (l & half ? width : 0) + (other ? l ^ half : l); }
};

/// Lane l of v[0] becomes the sum of the lanes of v[l]. Overwrites v.
template <class T, int half = kWidth<T> / 2>
inline __attribute__((always_inline)) Vec<T> sums_of_lanes(Vec<T>* v) {
  if constexpr (half == 0) {
    return v[0];
  } else {
    for (int i = 0; i < half; ++i)
      v[i] = shuffled<Halves<half, kWidth<T>, false>, T>(v[i], v[i + half]) +
             shuffled<Halves<half, kWidth<T>, true>, T>(v[i], v[i + half]);
    return sums_of_lanes<T, half / 2>(v);
  }
}

/// <a, b>, before the sum over lanes. `single`: a feature is one vector.
template <class T, bool single>
inline __attribute__((always_inline)) Vec<T> lane_products(const T* a, const T* b, Index width) {
  if constexpr (single) return load<T>(a) * load<T>(b);
  Vec<T> sum = {};
  each_vector<T>(width, [&](auto at) { sum += at(a) * at(b); });
  return sum;
}

template <class T, bool single>
inline void products_of_pairs(const Features<T>& z, T* out) {
  Vec<T> products[kWidth<T>];
  int held = 0;
  for (Index i = 1; i < z.count; ++i) {
    const T* own = z[i];
    for (Index j = 0; j < i; ++j) {
      products[held] = lane_products<T, single>(own, z[j], z.width);
      if (++held < kWidth<T>) continue;
      store<T>(out, sums_of_lanes<T>(products));
      out += kWidth<T>;
      held = 0;
    }
  }
  if (held == 0) return;
  for (int rest = held; rest < kWidth<T>; ++rest) products[rest] = Vec<T>{};
  Lanes<T>{0, held}.put(out, sums_of_lanes<T>(products));
}

/// y: the first feature, then the dot products of pairs (1, 0), (2, 0), (2, 1), (3, 0), ...
template <class T>
inline void dot_row(const Features<T>& z, T* y) {
  const T* first = z[0];
  each_vector<T>(z.width, [=](auto at) { at.put(y, at(first)); });
  if (z.width == kWidth<T>)
    products_of_pairs<T, true>(z, y + z.width);
  else
    products_of_pairs<T, false>(z, y + z.width);
}

/// Feature i's gradient: the sum over all others j of the pair's gradient times feature j.
template <class T>
inline void dot_row_backward(const Features<T>& z, const T* dy, T* first_gradient, bool add_first,
                             T* rest_gradient, bool add_rest) {
  const T* pairs = dy + z.width;
  each_vector<T>(z.width, [&](auto at) {
    for (Index i = 0; i < z.count; ++i) {
      T* gradient = i == 0 ? first_gradient : rest_gradient;
      if (!gradient) continue;
      if (i > 0) gradient += (i - 1) * z.width;
      Vec<T> lower = i == 0 ? at(dy) : Vec<T>{}, upper = {};
      const T* own = pairs + i * (i - 1) / 2;
      for (Index j = 0; j < i; ++j) lower += own[j] * at(z[j]);
      for (Index j = i + 1; j < z.count; ++j) upper += pairs[j * (j - 1) / 2 + i] * at(z[j]);
      const Vec<T> sum = lower + upper;
      at.put(gradient, (i == 0 ? add_first : add_rest) ? at(gradient) + sum : sum);
    }
  });
}

template <class T>
class Recommender final : public RecommenderKernels {
 public:
  void relu_forward(View x, View y) override {
    const T* in = x.as<T>();
    T* out = y.as<T>();
    // NaN stays NaN: a failed run must not look healthy.
    each_vector<T>(x.elements(), [=](auto at) { at.put(out, at(in) < T{0} ? Vec<T>{} : at(in)); });
  }
  void relu_backward(View y, View y_gradient, View x_gradient, bool add) override {
    const T *out = y.as<T>(), *dy = y_gradient.as<T>();
    T* dx = x_gradient.as<T>();
    each_vector<T>(y.elements(), [=](auto at) {
      const Vec<T> d = at(out) > T{0} ? at(dy) : Vec<T>{};
      at.put(dx, add ? at(dx) + d : d);
    });
  }

  void cross_forward(View x0, View u, View x, View y) override {
    const T *a = x0.as<T>(), *b = u.as<T>(), *c = x.as<T>();
    T* out = y.as<T>();
    each_vector<T>(y.elements(), [=](auto at) { at.put(out, at(a) * at(b) + at(c)); });
  }
  void cross_backward(const CrossBackward& what) override {
    const Index n = what.y_gradient.elements();
    if (what.x0_gradient) product(n, what.y_gradient, what.u, what.x0_gradient, what.add_x0);
    if (what.u_gradient) product(n, what.y_gradient, what.x0, what.u_gradient, what.add_u);
  }

  void dot_forward(View first, View rest, View y) override {
    for (Index row = 0; row < y.rows; ++row)
      dot_row<T>(features(first, rest, row), y.as<T>() + row * y.columns);
  }
  void dot_backward(const DotBackward& what) override {
    for (Index row = 0; row < what.y_gradient.rows; ++row)
      dot_row_backward<T>(features(what.first, what.rest, row),
                          what.y_gradient.as<T>() + row * what.y_gradient.columns,
                          row_of(what.first_gradient, row), what.add_first,
                          row_of(what.rest_gradient, row), what.add_rest);
  }

  void copy_columns(View from, std::int64_t from_column, View to, std::int64_t to_column,
                    std::int64_t columns, bool add) override {
    for (Index row = 0; row < from.rows; ++row) {
      const T* in = from.as<T>() + row * from.columns + from_column;
      T* out = to.as<T>() + row * to.columns + to_column;
      each_vector<T>(columns, [=](auto at) { at.put(out, add ? at(out) + at(in) : at(in)); });
    }
  }

  void zero_columns(View x, std::int64_t column, std::int64_t columns) override {
    for (Index row = 0; row < x.rows; ++row)
      std::fill_n(x.as<T>() + row * x.columns + column, columns, T{0});
  }

  void binary_cross_entropy(View logits, View labels, double gradient_scale, View losses) override {
    const T scale = static_cast<T>(gradient_scale);
    for (Index i = 0; i < logits.rows; ++i) {
      T& z = logits.as<T>()[i];
      const T label = labels.as<T>()[i];
      // log(1 + e^z) - label z, without overflow of the exponential.
      const T small = std::exp(-std::abs(z));
      const T rise = z > T{0} ? z - label * z : -label * z;
      losses.as<double>()[i] = static_cast<double>(rise) + static_cast<double>(std::log1p(small));
      if (gradient_scale == 0.0) continue;
      const T probability = (z > T{0} ? T{1} : small) / (T{1} + small);
      z = scale * (probability - label);
    }
  }

 private:
  static void product(Index n, View dy, View other, View gradient, bool add) {
    const T *a = dy.as<T>(), *b = other.as<T>();
    T* out = gradient.as<T>();
    each_vector<T>(n, [=](auto at) {
      const Vec<T> d = at(a) * at(b);
      at.put(out, add ? at(out) + d : d);
    });
  }
  static T* row_of(View view, Index row) {
    return view ? view.as<T>() + row * view.columns : nullptr;
  }
  static Features<T> features(View first, View rest, Index row) {
    return {row_of(first, row), row_of(rest, row), first.columns, 1 + rest.columns / first.columns};
  }
};

template <class T>
class Activation final : public ActivationKernels {
 public:
  void swiglu_forward(View x, View y) override {
    const Index n = y.columns;
    for (Index i = 0; i < x.rows; ++i) {
      const T *gate = x.as<T>() + i * 2 * n, *up = gate + n;
      T* out = y.as<T>() + i * n;
      each_vector<T>(n, [=](auto at) {
        const Vec<T> g = at(gate);
        at.put(out, g * at(up) / (T{1} + exponential(-g)));
      });
    }
  }

  void swiglu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    const Index n = y_gradient.columns;
    for (Index i = 0; i < x.rows; ++i) {
      const T *gate = x.as<T>() + i * 2 * n, *up = gate + n;
      const T* dy = y_gradient.as<T>() + i * n;
      T* dgate = x_gradient.as<T>() + i * 2 * n;
      T* dup = dgate + n;
      each_vector<T>(n, [=](auto at) {
        const Vec<T> g = at(gate), d = at(dy);
        const Vec<T> s = T{1} / (T{1} + exponential(-g));
        const Vec<T> silu = g * s;
        const Vec<T> of_gate = d * at(up) * (s + silu * (T{1} - s)), of_up = d * silu;
        at.put(dgate, add ? at(dgate) + of_gate : of_gate);
        at.put(dup, add ? at(dup) + of_up : of_up);
      });
    }
  }

  void gelu_forward(View x, View y) override {
    const T* in = x.as<T>();
    T* out = y.as<T>();
    each_vector<T>(x.elements(), [=](auto at) { at.put(out, at(in) * share(at(in))); });
  }

  void gelu_backward(View x, View y_gradient, View x_gradient, bool add) override {
    const T *in = x.as<T>(), *dy = y_gradient.as<T>();
    T* dx = x_gradient.as<T>();
    each_vector<T>(x.elements(), [=](auto at) {
      const Vec<T> v = at(in), s = share(v);
      const Vec<T> slope = kScale * (T{2} + T{6} * kCube * v * v);
      const Vec<T> d = at(dy) * (s + v * s * (T{1} - s) * slope);
      at.put(dx, add ? at(dx) + d : d);
    });
  }

 private:
  static constexpr T kScale = static_cast<T>(0.7978845608028654);  // sqrt(2 / pi)
  static constexpr T kCube = static_cast<T>(0.044715);
  /// (1 + tanh u) / 2 = 1 / (1 + e^-2u), u = sqrt(2/pi) (x + 0.044715 x^3). Below e^-60 it is zero:
  /// x < -10 would give subnormal numbers, with which GEMMs take several times as long. NaN stays.
  static inline Vec<T> share(Vec<T> x) {
    const Vec<T> power = T{-2} * kScale * (x + kCube * x * x * x);
    return power > T{60} ? Vec<T>{} : T{1} / (T{1} + exponential(power));
  }
};

template <class T>
class Elementwise final : public ElementwiseKernels {
 public:
  void add(View a, View b, View y) override {
    const T *left = a.as<T>(), *right = b.as<T>();
    T* out = y.as<T>();
    for (Index i = 0; i < y.elements(); ++i) out[i] = left[i] + right[i];
  }
  void copy(View x, View y, bool add) override {
    const T* in = x.as<T>();
    T* out = y.as<T>();
    if (add)
      for (Index i = 0; i < y.elements(); ++i) out[i] += in[i];
    else
      std::memcpy(out, in, static_cast<std::size_t>(y.elements()) * sizeof(T));
  }
  void column_sums(View x, View sums, bool add) override {
    T* __restrict out = sums.as<T>();
    if (!add)
      for (Index j = 0; j < x.columns; ++j) out[j] = T{};
    for (Index i = 0; i < x.rows; ++i) {
      const T* in = x.as<T>() + i * x.columns;
      for (Index j = 0; j < x.columns; ++j) out[j] += in[j];
    }
  }
};

/// The loss of one row of logits, and its gradient times `gradient_scale` in their place unless
/// that is 0. `rule` gives loss and derivative from -log p of the target. A negative target is
/// ignored.
template <class T, class Rule>
double softmax_loss(Index row, Index n, T* z, std::int32_t target, double gradient_scale,
                    const Rule& rule) {
  if (target >= n) refuse_id(row, target, n);
  const T most = row_max<T>(n, z);
  const T wanted = target < 0 ? T{} : z[target];
  const bool learns = gradient_scale != 0.0;
  const T sum = learns ? exponentials<T>(n, z, most) : row_sum<T>(n, [=](auto at) {
    return first_lanes<T>(exponential(at(z) - most), at.count, T{});
  });
  const double surprise = std::log(static_cast<double>(sum)) + static_cast<double>(most - wanted);
  const bool counts = target >= 0;
  if (learns) {
    const T slope =
        counts ? static_cast<T>(gradient_scale) * static_cast<T>(rule.slope(row, surprise)) : T{};
    const T scale = slope / sum;
    for (Index j = 0; j < n; ++j) z[j] *= scale;
    if (counts) z[target] -= slope;
  }
  return counts ? rule.loss(row, surprise) : 0.0;
}

template <class T>
class Loss final : public LossKernels {
 public:
  void cross_entropy(View logits, View targets, double gradient_scale, View losses) override {
    struct Rule {
      double loss(Index, double surprise) const { return surprise; }
      double slope(Index, double) const { return 1.0; }
    };
    for (Index i = 0; i < logits.rows; ++i)
      losses.as<double>()[i] = softmax_loss(i, logits.columns, logits.as<T>() + i * logits.columns,
                                            targets.as<std::int32_t>()[i], gradient_scale, Rule{});
  }

  void add_up(View losses, View sum, bool add) override {
    double& to = *sum.as<double>();
    if (!add) to = 0.0;
    for (Index i = 0; i < losses.elements(); ++i) to += losses.as<double>()[i];
  }
};

}  // namespace bench::training::BENCH_ISA

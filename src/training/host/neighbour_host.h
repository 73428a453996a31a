// Attention over sampled neighbours on a CPU. Weights are computed again in the backward pass,
// which costs less than keeping them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "training/host/exponential.h"
#include "training/host/vector.h"
#include "training/kernels/neighbour_kernels.h"

namespace bench::training::BENCH_ISA {

template <class T>
class Neighbours final : public NeighbourKernels {
 public:
  void attention(const NeighbourShape& shape, const NeighbourInputs& in, View output) override {
    weights_.resize(static_cast<std::size_t>(shape.fan_out));
    for (Index i = 0; i < in.own.rows; ++i)
      for (Index h = 0; h < shape.heads; ++h) {
        const HeadOf of(shape, in, i, h);
        weigh(of, [](T) {});
        T* out = output.as<T>() + i * shape.width() + of.column;
        each_vector<T>(of.dim, [&](auto at) {
          Vec<T> sum = {};
          for (Index j = 0; j < of.fan_out; ++j) sum += weight(j) * at(of.value(j));
          at.put(out, sum);
        });
      }
  }

  void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) override {
    weights_.resize(static_cast<std::size_t>(shape.fan_out));
    slopes_.resize(weights_.size());
    T* of_vector = what.vector_gradient.as<T>();
    if (!what.add_vector) std::fill_n(of_vector, shape.width(), T{});
    for (Index i = 0; i < what.in.own.rows; ++i)
      for (Index h = 0; h < shape.heads; ++h) {
        const HeadOf of(shape, what.in, i, h);
        const T* upper = what.output_gradient.as<T>() + i * shape.width() + of.column;
        const T own = score_slopes(of, upper);
        T& of_own = what.own_gradient.as<T>()[i * shape.heads + h];
        of_own = what.add_own ? of_own + own : own;
        T* of_values = what.values_gradient.as<T>() + i * of.fan_out * shape.width() + of.column;
        each_vector<T>(of.dim, [&, add = what.add_values](auto at) {
          const Vec<T> up = at(upper), vector = at(of.vector);
          Vec<T> sum = at(of_vector + of.column);
          for (Index j = 0; j < of.fan_out; ++j) {
            T* to = of_values + j * of.width;
            const Vec<T> d = weight(j) * up + slope(j) * vector;
            at.put(to, add ? at(to) + d : d);
            sum += slope(j) * at(of.value(j));
          }
          at.put(of_vector + of.column, sum);
        });
      }
  }

 private:
  /// A head of one node.
  struct HeadOf {
    Index fan_out, dim, width, column;
    const T *values, *vector;  // of this head
    T own;

    HeadOf(const NeighbourShape& shape, const NeighbourInputs& in, Index i, Index h)
        : fan_out(shape.fan_out),
          dim(shape.head_dim),
          width(shape.width()),
          column(h * shape.head_dim),
          values(in.values.as<T>() + i * shape.fan_out * width + column),
          vector(in.vector.as<T>() + column),
          own(in.own.as<T>()[i * shape.heads + h]) {}

    const T* value(Index j) const { return values + j * width; }
    T product(Index j, const T* with) const {
      return row_sum<T>(dim, [value = value(j), with](auto at) { return at(value) * at(with); });
    }
  };

  T& weight(Index j) { return weights_[static_cast<std::size_t>(j)]; }
  T& slope(Index j) { return slopes_[static_cast<std::size_t>(j)]; }

  /// Leaves the softmax in weights_; see(score) before the leaky ReLU, in the order of neighbours.
  template <class See>
  void weigh(const HeadOf& of, const See& see) {
    for (Index j = 0; j < of.fan_out; ++j) {
      const T score = of.own + of.product(j, of.vector);
      see(score);
      weight(j) = score < T{} ? static_cast<T>(kLeakySlope) * score : score;
    }
    const T most = row_max<T>(of.fan_out, weights_.data());
    const T share = T{1} / exponentials<T>(of.fan_out, weights_.data(), most);
    for (T& one : weights_) one *= share;
  }

  /// Leaves weights, and the slopes of the loss by each score, whose sum it returns.
  T score_slopes(const HeadOf& of, const T* upper) {
    Index next = 0;
    weigh(of, [&](T score) { slope(next++) = score < T{} ? static_cast<T>(kLeakySlope) : T{1}; });
    T mean{}, sum{};
    for (Index j = 0; j < of.fan_out; ++j) mean += weight(j) * of.product(j, upper);
    for (Index j = 0; j < of.fan_out; ++j)
      sum += slope(j) *= weight(j) * (of.product(j, upper) - mean);
    return sum;
  }

  std::vector<T> weights_ = {}, slopes_ = {};  // of the neighbours of one node
};

}  // namespace bench::training::BENCH_ISA

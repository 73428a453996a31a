// The group of attention over sampled neighbours; see functor_kernels.h. A block of threads for
// each node and head; sums over nodes take a second pass, in a fixed order.
#pragma once

#include <math.h>

#include "training/kernels/functors/attention_simple.h"
#include "training/kernels/functors/functor_norm.h"
#include "training/kernels/functors/portable.h"
#include "training/kernels/neighbour_kernels.h"

namespace bench::training {

/// The arguments of all bodies.
template <class T>
struct NeighbourHeads {
  const T *values, *own, *vector;
  std::int64_t fan_out, heads, dim;

  BENCH_BOTH std::int64_t width() const { return heads * dim; }
  BENCH_BOTH std::int64_t place(std::int64_t node, std::int64_t j, std::int64_t head) const {
    return (node * fan_out + j) * width() + head * dim;
  }
  BENCH_BOTH const T* value(std::int64_t node, std::int64_t j, std::int64_t head) const {
    return values + place(node, j, head);
  }
  /// Before the leaky ReLU.
  BENCH_BOTH float score(std::int64_t node, std::int64_t j, std::int64_t head) const {
    return static_cast<float>(own[node * heads + head]) +
           dot(value(node, j, head), vector + head * dim, dim);
  }
  static BENCH_BOTH float slope(float score) {
    return score < 0.0f ? static_cast<float>(kLeakySlope) : 1.0f;
  }

  /// The softmax over a node's neighbours into `weights`; ends with a barrier.
  template <class Block>
  BENCH_BOTH void weigh(Block& block, std::int64_t node, std::int64_t head, float* weights) const {
    typename Block::template Per<float> most, sums;
    block.each([&](int thread) {
      most(thread) = -1e30f;
      for (std::int64_t j = thread; j < fan_out; j += Block::kThreads) {
        const float z = score(node, j, head);
        weights[j] = z * slope(z);
        most(thread) = fmaxf(most(thread), weights[j]);
      }
    });
    const float top = block.max(most);
    block.each([&](int thread) {
      sums(thread) = 0.0f;
      for (std::int64_t j = thread; j < fan_out; j += Block::kThreads)
        sums(thread) += weights[j] = expf(weights[j] - top);
    });
    const float sum = block.sum(sums);
    block.each([&](int thread) {
      for (std::int64_t j = thread; j < fan_out; j += Block::kThreads) weights[j] /= sum;
    });
    block.sync();
  }
};

/// Block (node, head); shared: as many floats as a node has neighbours.
template <class T>
struct NeighbourForward {
  NeighbourHeads<T> in;
  T* output;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t node, std::int64_t head, float* weights) const {
    in.weigh(block, node, head, weights);
    block.each([&](int thread) {
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads) {
        float value = 0.0f;
        for (std::int64_t j = 0; j < in.fan_out; ++j)
          value += weights[j] * static_cast<float>(in.value(node, j, head)[d]);
        output[node * in.width() + head * in.dim + d] = T(value);
      }
    });
    block.sync();
  }
};

/// The gradients of values and own scores, and each node's part of the vector's. Block (node,
/// head); shared: twice as many floats as a node has neighbours.
template <class T>
struct NeighbourGradients {
  NeighbourHeads<T> in;
  const T* output_gradient;
  T *values_gradient, *own_gradient;
  float* vector_parts;  // [nodes, heads x head_dim]
  bool add_values, add_own;

  template <class Block>
  BENCH_BOTH void unit(Block& block, std::int64_t node, std::int64_t head, float* shared) const {
    float *weights = shared, *slopes = shared + in.fan_out;
    const std::int64_t column = node * in.width() + head * in.dim;
    const T* upper = output_gradient + column;
    in.weigh(block, node, head, weights);
    typename Block::template Per<float> means, sums;
    block.each([&](int thread) {
      means(thread) = 0.0f;
      for (std::int64_t j = thread; j < in.fan_out; j += Block::kThreads) {
        slopes[j] = dot(in.value(node, j, head), upper, in.dim);
        means(thread) += weights[j] * slopes[j];
      }
    });
    const float mean = block.sum(means);
    block.each([&](int thread) {
      sums(thread) = 0.0f;
      for (std::int64_t j = thread; j < in.fan_out; j += Block::kThreads) {
        slopes[j] = weights[j] * (slopes[j] - mean) * in.slope(in.score(node, j, head));
        sums(thread) += slopes[j];
      }
    });
    const float sum = block.sum(sums);
    block.sync();
    block.each([&](int thread) {
      if (thread == 0) put(own_gradient + node * in.heads + head, add_own, sum);
      for (std::int64_t d = thread; d < in.dim; d += Block::kThreads) {
        const float up = static_cast<float>(upper[d]);
        const float vector = static_cast<float>(in.vector[head * in.dim + d]);
        float part = 0.0f;
        for (std::int64_t j = 0; j < in.fan_out; ++j) {
          const std::int64_t at = in.place(node, j, head) + d;
          put(values_gradient + at, add_values, weights[j] * up + slopes[j] * vector);
          part += slopes[j] * static_cast<float>(in.values[at]);
        }
        vector_parts[column + d] = part;
      }
    });
    block.sync();
  }

 private:
  static BENCH_BOTH void put(T* to, bool add, float value) {
    *to = T((add ? static_cast<float>(*to) : 0.0f) + value);
  }
};

template <class T, class Launch>
class FunctorNeighbours final : public NeighbourKernels {
 public:
  explicit FunctorNeighbours(Launch launch) : launch_(launch) {}
  void attention(const NeighbourShape& shape, const NeighbourInputs& in, View output) override {
    launch_.units(NeighbourForward<T>{heads_of(shape, in), output.as<T>()}, in.own.rows,
                  shape.heads, bytes_of(shape));
  }
  void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) override {
    const std::int64_t nodes = what.in.own.rows, width = shape.width();
    auto* parts = static_cast<float*>(launch_.scratch(nodes * width * std::int64_t{sizeof(float)}));
    launch_.units(NeighbourGradients<T>{heads_of(shape, what.in), what.output_gradient.as<T>(),
                                        what.values_gradient.as<T>(), what.own_gradient.as<T>(),
                                        parts, what.add_values, what.add_own},
                  nodes, shape.heads, 2 * bytes_of(shape));
    launch_.units(SumOfParts<T>{parts, what.vector_gradient.as<T>(), nodes, width, what.add_vector},
                  width, 1, 0);
  }

 private:
  static NeighbourHeads<T> heads_of(const NeighbourShape& shape, const NeighbourInputs& in) {
    return {in.values.as<T>(), in.own.as<T>(), in.vector.as<T>(),
            shape.fan_out,     shape.heads,    shape.head_dim};
  }
  static std::int64_t bytes_of(const NeighbourShape& shape) {
    return shape.fan_out * std::int64_t{sizeof(float)};
  }
  Launch launch_;
};

}  // namespace bench::training

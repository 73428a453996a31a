// Attention of graph networks (GAT, arXiv 1710.10903) over sampled neighbours. Each node has
// equally many, so the rows of neighbours are those of their nodes in order: no indices, no
// atomics, and every sum has a fixed order.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

/// Rows i x fan_out to (i + 1) x fan_out - 1 of the neighbours are those of node i.
struct NeighbourShape {
  std::int64_t fan_out = 0;
  std::int64_t heads = 0, head_dim = 0;

  std::int64_t width() const { return heads * head_dim; }
  bool operator==(const NeighbourShape&) const = default;
};

/// The slope of the leaky ReLU below zero, as in GAT.
inline constexpr double kLeakySlope = 0.2;

/// The arguments of the forward pass.
struct NeighbourInputs {
  View values;  // [nodes x fan_out, heads x head_dim]: what the neighbours send
  View own;     // [nodes, heads]: what the node adds to the score of each neighbour
  View vector;  // [1, heads x head_dim]: a neighbour's score is its product with the values
};

/// Gradients are added if their `add` is set, else written. None is absent.
struct NeighbourBackward {
  NeighbourInputs in;
  View output_gradient;
  View values_gradient, own_gradient, vector_gradient;
  bool add_values = false, add_own = false, add_vector = false;
};

class NeighbourKernels {
 public:
  virtual ~NeighbourKernels() = default;
  /// Of node i and each head: output = sum over its neighbours j of w_j values_j, w the softmax
  /// over them of leaky_relu(own_i + <vector, values_j>). output [nodes, heads x head_dim].
  virtual void attention(const NeighbourShape& shape, const NeighbourInputs& in, View output) = 0;
  virtual void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) = 0;
};

}  // namespace bench::training

// Operators of graph networks on sampled neighbourhoods, in addition to those of linear.h,
// classifier.h and transformer.h.
#pragma once

#include "training/engine/graph.h"
#include "training/kernels/neighbour_kernels.h"

namespace bench::training {

/// GAT's attention (NeighbourKernels::attention): each node gets the mean of its neighbours'
/// values, weighted by a softmax of scores. values [nodes fan_out, heads head_dim], own [nodes,
/// heads], vector [1, heads head_dim]; y [nodes, heads head_dim]. Forward FLOPs: 4 per value, for
/// the products with the vector and with the weights. Throws Error(internal), with the shapes, if
/// they do not fit each other.
Var neighbour_attention(Var values, Var own, Var vector, const NeighbourShape& shape);

}  // namespace bench::training

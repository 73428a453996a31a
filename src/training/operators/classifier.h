// Operators of image classifiers, in addition to those of convolution.h.
// All operators check the shapes of their inputs and throw Error(internal) with both.
#pragma once

#include "training/engine/graph.h"
#include "training/operators/convolution.h"

namespace bench::training {

/// The largest value of each window of kernel x kernel pixels, channel by channel; a window's
/// gradient goes to its first largest pixel.
Map max_pool(const Map& x, std::int64_t kernel, std::int64_t stride, std::int64_t padding);

/// The mean over each sample's rows: [samples n, d] -> [samples, d].
Var mean_rows(Var x, std::int64_t samples);

/// max(a + b, 0): the end of a residual block.
Var add_relu(Var a, Var b);

/// cross_entropy() of transformer.h with smoothed labels (arXiv 1512.00567): 1 - smoothing for the
/// label plus smoothing / classes for every class. In evaluation the logits stay.
Var smoothed_cross_entropy(Var logits, Var targets, double smoothing);

}  // namespace bench::training

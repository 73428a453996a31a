// Directional finite differences: whether the gradient that a graph's backward pass makes is that
// of the loss that its forward pass makes.
#pragma once

#include <functional>
#include <string>

#include "probes/training/engine/lane.h"

namespace bench::training {

struct GradientError {
  double worst = 0.0;  // |analytic - difference| / (|analytic| + |difference| + 1e-3)
  std::string parameter = {};
};

/// Every parameter of an f64 graph is moved along a random direction of its own; `fill` writes the
/// inputs.
GradientError check_gradients(const Graph& graph, Var losses,
                              const std::function<void(const Lane&)>& fill,
                              const KernelFactory& kernels);

/// Ids below `bound` that look random, the same each time.
void fill_ids(View ids, int bound, unsigned seed);
double sum_of_losses(View losses);

}  // namespace bench::training

// Directional finite differences: compares a graph's backward pass with its forward pass.
#pragma once

#include <functional>
#include <string>

#include "training/engine/lane.h"

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

/// The same for another function of the lane's tensors than the sum of the losses.
GradientError check_gradients(const Graph& graph,
                              const std::function<double(const Lane&)>& objective,
                              const std::function<void(const Lane&)>& fill,
                              const KernelFactory& kernels);

/// Pseudorandom IDs below `bound`, the same each time.
void fill_ids(View ids, int bound, unsigned seed);
double sum_of_losses(View losses);

}  // namespace bench::training

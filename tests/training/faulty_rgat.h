// Kernels of R-GAT that tests replace in part.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "training/kernels/kernel_set.h"

namespace bench::training {

/// Forwards to the real kernels whatever a test does not change.
class PassingNeighbours : public NeighbourKernels {
 public:
  explicit PassingNeighbours(std::unique_ptr<NeighbourKernels> real) : real_(std::move(real)) {}
  void attention(const NeighbourShape& shape, const NeighbourInputs& in, View output) override {
    real_->attention(shape, in, output);
  }
  void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) override {
    real_->attention_backward(shape, what);
  }

 private:
  std::unique_ptr<NeighbourKernels> real_;
};

template <class Faulty>
void replace_neighbours(KernelSet& set) {
  set.neighbours = std::make_unique<Faulty>(std::move(set.neighbours));
}

inline void zero_all(View view) { std::fill_n(view.as<double>(), view.elements(), 0.0); }

/// Vectors get no gradient.
class UntaughtVectors final : public PassingNeighbours {
 public:
  using PassingNeighbours::PassingNeighbours;
  void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) override {
    PassingNeighbours::attention_backward(shape, what);
    zero_all(what.vector_gradient);
  }
};

/// Nodes' own scores have the gradient of the next node's.
class ShiftedNodes final : public PassingNeighbours {
 public:
  using PassingNeighbours::PassingNeighbours;
  void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) override {
    PassingNeighbours::attention_backward(shape, what);
    double* gradient = what.own_gradient.as<double>();
    std::rotate(gradient, gradient + 1, gradient + what.own_gradient.elements());
  }
};

/// Values have the gradient that equal weights would give, where it is written and not added.
class EvenWeights final : public PassingNeighbours {
 public:
  using PassingNeighbours::PassingNeighbours;
  void attention_backward(const NeighbourShape& shape, const NeighbourBackward& what) override {
    PassingNeighbours::attention_backward(shape, what);
    if (what.add_values) return;
    const std::int64_t width = shape.width();
    for (std::int64_t i = 0; i < what.values_gradient.elements(); ++i)
      what.values_gradient.as<double>()[i] =
          what.output_gradient.as<double>()[i / width / shape.fan_out * width + i % width] /
          static_cast<double>(shape.fan_out);
  }
};

}  // namespace bench::training

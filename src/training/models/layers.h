// Fully connected layers, as recommendation models use them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/engine/graph.h"

namespace bench::training {

/// A linear layer with a bias; initial weights have a standard deviation of sqrt(gain / inputs).
Var layer(Var x, const std::string& name, std::int64_t out, double gain);

/// Layers name0, name1, ... of these widths, each followed by a ReLU.
Var rectified_layers(Var x, const std::string& name, const std::vector<std::int64_t>& widths);

}  // namespace bench::training

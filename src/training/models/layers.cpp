#include "training/models/layers.h"

#include <cmath>

#include "training/operators/linear.h"
#include "training/operators/recommender.h"

namespace bench::training {

Var layer(Var x, const std::string& name, std::int64_t out, double gain) {
  Graph& graph = *x.graph;
  const std::int64_t in = x.shape().columns();
  const double deviation = std::sqrt(gain / static_cast<double>(in));
  const Var w = graph.parameter(name, {in, out}, {Initial::normal(deviation)});
  const Var bias = graph.parameter(name + ".bias", {1, out}, {Initial::constant(0.0), false});
  return linear(x, w, {bias});
}

Var rectified_layers(Var x, const std::string& name, const std::vector<std::int64_t>& widths) {
  for (std::size_t i = 0; i < widths.size(); ++i)
    x = relu(layer(x, name + std::to_string(i), widths[i], 2.0));
  return x;
}

}  // namespace bench::training

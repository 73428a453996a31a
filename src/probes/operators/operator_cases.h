// The operators that the probe `operators` measures: those of a transformer layer, of a
// convolutional block, of a recommender, and an optimizer's update.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "probes/operators/operator_inputs.h"

namespace bench {

/// Of what one thread computes in a call.
struct OperatorSizes {
  std::int64_t tokens = 0;    // rows of activations
  std::int64_t sequence = 0;  // of tokens, divides them
  std::int64_t channels = 0;
  std::int64_t head_dim = 0;
  std::int64_t hidden = 0;      // columns between the matrices of a feed-forward part
  std::int64_t vocabulary = 0;  // of embeddings, and classes of the loss
  std::int64_t images = 0, side = 0, maps = 0;  // side x side pixels of `maps` channels
  std::int64_t table_rows = 0, lookups = 0;     // of embedding bags
};

/// An operator at the end of a graph.
struct BuiltOperator {
  training::Var output;
  Json shape;  // what distinguishes a series of this operator
  /// FLOPs of a forward and of a backward pass besides those of GEMMs: additions, multiplications,
  /// divisions, and one for each root or exponential.
  double forward_flops = 0.0, backward_flops = 0.0;
  /// Bytes that a pass has to move, where these are not those of its tensors.
  std::optional<double> forward_bytes = {}, backward_bytes = {};
  /// Bytes that a forward pass touches, where it does not touch whole tensors.
  std::optional<double> forward_working_set = {};
  /// Whether one of the gradients is the output's, unchanged and in the same memory.
  bool passes_gradient = false;
  /// Whether a backward pass would overwrite the gradient of the output with another one, which
  /// repeated calls would take for the output's: it gets memory of its own.
  bool rewrites_gradient = false;
  /// Inputs that the operator changes.
  std::vector<training::Var> changed = {};
};

struct OperatorCase {
  std::string_view name;
  bool on_hosts_only = false;
  bool wide_only = false;  // f32 or f64
  /// Appends the operator to the graph. Returns why it cannot have these sizes instead if it
  /// cannot.
  std::string (*build)(OperatorInputs&, const OperatorSizes&, BuiltOperator&) = nullptr;
};

const std::vector<OperatorCase>& operator_cases();
/// Throws Error(input) for an unknown name.
const OperatorCase& operator_case(std::string_view name);

}  // namespace bench

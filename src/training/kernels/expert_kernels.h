// Kernels of routed experts (mixture of experts): a router chooses a few of many feed-forward
// networks for each token. How many tokens an expert gets depends on the data.
#pragma once

#include <cstdint>

#include "training/kernels/view.h"

namespace bench::training {

/// How tokens choose experts. A sequence is the group whose load is balanced and limited, so that
/// results do not depend on the size of a micro-batch.
struct Routing {
  std::int64_t sequence = 0;  // rows of one sequence; the batch is rows / sequence
  std::int64_t experts = 0;
  std::int64_t top = 0;  // experts of a token
  /// Most tokens of a sequence that an expert takes, the first ones in order of position, so that
  /// no token depends on a later one; 0: all (dropless).
  std::int64_t capacity = 0;

  bool operator==(const Routing&) const = default;
};

struct RouteBackward {
  View logits;          // argument of route
  View gates_gradient;  // [rows, experts]; only those of chosen experts are read
  View logits_gradient;
  /// Gradient of the loss with respect to the balance loss of one token (see statistics):
  /// that of a sequence counts as often as it has tokens. 0: no balance loss.
  double balance_scale = 0.0;
  bool add = false;
};

/// Columns of routing statistics after one per expert.
enum class RoutingColumn { chosen, dropped, balance };
constexpr std::int64_t kRoutingColumns = 3;

/// Tensors of the experts' feed-forward networks, of which those in the second line are results of
/// the forward pass for the backward pass.
struct ExpertTensors {
  View x, gates;                     // [rows, d], [rows, experts]
  View up, down;                     // [experts d, 2 n]: gate | up; [experts n, d]
  View order;                        // int32 [1, experts + 1 + rows top], see forward
  View gathered, hidden, activated;  // [rows top, d], [rows top, 2 n], [rows top, n]
};

struct ExpertGradients {
  View y;                   // [rows, d], of the output
  View workspace;           // [1, rows top (d + 3 n)]
  View x, gates, up, down;  // absent ones are not needed
  bool add_x = false, add_gates = false, add_up = false, add_down = false;
};

class ExpertKernels {
 public:
  virtual ~ExpertKernels() = default;
  /// gates[rows, experts] = softmax over the `top` largest logits of a row, 0 for other experts and
  /// for tokens beyond an expert's capacity. Of equal logits the first one is larger.
  virtual void route(const Routing& routing, View logits, View gates) = 0;
  virtual void route_backward(const Routing& routing, const RouteBackward& what) = 0;
  /// Per sequence, f64 [sequences, experts + kRoutingColumns]: tokens that each expert takes, then
  /// choices (tokens x top), dropped choices, and the balance loss: experts x sum over experts of
  /// f P, where f is the expert's share of all choices, dropped ones included, and P the mean
  /// of its softmax over all experts. It is 1 if both are uniform. With one expert per token, it is
  /// that of the Switch Transformer (arXiv 2101.03961, eq. 4 to 6); per sequence and for any number
  /// of experts, that of DeepSeek-V3 (arXiv 2412.19437, eq. 17 to 20).
  virtual void statistics(const Routing& routing, View logits, View statistics) = 0;
  /// y[rows, d] = sum over experts of gate x (silu(x g) * (x u)) down, with [g | u] = up. `order`
  /// becomes the start of each expert's tokens, their number, and the rows of all tokens, expert by
  /// expert, in order. The sum runs over experts in order: bits do not depend on threads.
  virtual void forward(const ExpertTensors& tensors, View y) = 0;
  virtual void backward(const ExpertTensors& tensors, const ExpertGradients& gradients) = 0;
};

}  // namespace bench::training

// An executable graph: the order of all work, forward and backward, and the place of every tensor.
// Made once; a step replays it without allocations or lookups. Tensors with disjoint lifetimes
// share memory.
#pragma once

#include <array>
#include <string_view>

#include "training/engine/graph.h"
#include "training/kernels/memory.h"

namespace bench::training {

/// Separate blocks of memory. The first two exist once per rank, the others once per lane.
enum class Arena { parameters, constants, gradients, inputs, transient };
constexpr std::size_t kArenas = 5;

/// Uses of memory. Padding is the unused part of the transient arena at its peak.
enum class Label {
  parameters,
  constants,
  gradients,
  inputs,
  activations,
  activation_gradients,
  workspace,
  padding
};
constexpr std::size_t kMemoryLabels = 8;
std::string_view to_string(Label label);
using LabelBytes = std::array<std::int64_t, kMemoryLabels>;

struct Buffer {
  Arena arena = Arena::transient;
  Label label = Label::activations;
  std::int64_t bytes = 0;
  int first = -1;  // first and last action that use it
  int last = -1;
  std::int64_t offset = -1;  // bytes from the arena's start, a multiple of kAlignment
};

/// A tensor in a buffer. Tensors computed in place share a buffer.
struct Slot {
  int buffer = -1;  // -1: absent
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Dtype dtype = Dtype::f32;

  /// Of the tensor; 0 if it is absent.
  std::int64_t bytes() const {
    return buffer < 0 ? 0 : rows * columns * static_cast<std::int64_t>(size_of(dtype));
  }
};

enum class Phase { forward, recompute, backward };
std::string_view to_string(Phase phase);

struct Action {
  int node = -1;
  Phase phase = Phase::forward;
  std::vector<Slot> inputs = {};
  Slot output = {};
  std::vector<Slot> saved = {};
  Slot workspace = {};
  Slot output_gradient = {};
  std::vector<Slot> input_gradients = {};
  std::vector<Adds> input_adds = {};
};

/// Bytes of all tensors that an action reads or writes, workspace included, each counted once.
double traffic_of(const Action& action);
/// Of an action of this operator.
double flops_of(const Action& action, const Operator& op);

/// When the gradients of weights are computed.
enum class WeightGradients {
  with_activations,  // by the operators whose backward passes they belong to
  /// After those of all activations, where an operator can do both apart: a pipeline may run them
  /// later (zero-bubble schedules). Their operands are kept until then.
  last
};

/// Actions first to last - 1.
struct ActionRange {
  int first = 0;
  int last = 0;
};

struct Plan {
  const Graph* graph = nullptr;
  bool training = true;
  std::vector<Buffer> buffers = {};
  std::vector<Action> actions = {};
  int backward_begin = 0;  // the first action after the forward pass
  int weights_begin = 0;   // the first of weight gradients that come last
  /// By tensor: its value, and its gradient if it is a parameter (buffer -1 if frozen) or an input
  /// with a gradient.
  std::vector<Slot> values = {};
  std::vector<Slot> gradients = {};
  /// Trainable parameters in the order in which their gradients become final, and the action that
  /// completes each; data-parallel buckets follow this order.
  struct FinalGradient {
    int tensor;
    int action;
  };
  std::vector<FinalGradient> gradient_order = {};
  std::array<std::int64_t, kArenas> arena_bytes = {};
  std::int64_t bytes(Arena arena) const { return arena_bytes[static_cast<std::size_t>(arena)]; }

  /// Of the transient arena, during an action.
  LabelBytes bytes_in_use(int action) const;
  /// Bytes by label at the peak of a step, which add up to all arenas of one lane.
  LabelBytes peak_bytes() const;
};

/// Throws Error(internal) if a parameter is unused or something else reads a loss's input.
Plan make_plan(const Graph& graph, bool training = true,
               WeightGradients weights = WeightGradients::with_activations);

}  // namespace bench::training

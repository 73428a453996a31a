// What one rank of a training step computes and exchanges, in order: the collectives and messages
// of a transformer that is split over ranks, with GEMMs between them in place of the model. For
// what the trainer supports (tp, sp, cp, pp, dp, ZeRO) the calls are those that it makes; the rest
// follows Megatron-LM and ring attention (docs/traffic.md).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "devices/gemm.h"
#include "probes/traffic/step_settings.h"

namespace bench {

enum class TrafficKind {
  compute,
  sum,          // all-reduce
  gather,       // all-gather
  scatter_sum,  // reduce-scatter
  all_to_all,   // uneven
  send,
  receive,
  control  // a sum of a few numbers, over the control plane
};
inline constexpr NameTable<TrafficKind, 8> kTrafficKinds{
    {{{TrafficKind::compute, "compute"},
      {TrafficKind::sum, "all_reduce"},
      {TrafficKind::gather, "all_gather"},
      {TrafficKind::scatter_sum, "reduce_scatter"},
      {TrafficKind::all_to_all, "all_to_all"},
      {TrafficKind::send, "send"},
      {TrafficKind::receive, "receive"},
      {TrafficKind::control, "control"}}}};

enum class TrafficPass { forward, backward, update };

/// Equal GEMMs.
struct GemmCalls {
  GemmShape shape;
  std::int64_t calls = 1;

  double flops() const { return shape.operations() * static_cast<double>(calls); }
};

struct TrafficOp {
  TrafficKind kind = TrafficKind::compute;
  TrafficGroup group = TrafficGroup::all;
  std::string_view what = {};  // "attention output"
  TrafficPass pass = TrafficPass::forward;
  std::int64_t micro_batch = 0;
  /// sum: of the tensor; gather: of this rank's part; scatter_sum: of its part of the result; send
  /// and receive: of the message; control: f64 numbers; all_to_all of a trace: for each rank, else
  /// 0.
  std::int64_t elements = 0;
  /// Of a bucket that is padded to equal parts: its elements, which are copied there and back.
  std::int64_t row = 0;
  int peer = 0;  // of a message, in the group
  /// Elements of all_to_all, by rank of the group, and where in its buffer each sender has them.
  std::vector<std::int64_t> to = {}, from = {}, from_first = {};
  std::vector<GemmCalls> gemms = {};  // of compute
  double seconds = 0.0;               // of compute, if known instead
  /// Of the buffers: the same for all micro-batches.
  int slot = -1;
  /// May start once this operation, a computation, is done, and overlaps those after it; -1: starts
  /// when the ones before it are done.
  int ready = -1;
  std::uint64_t node = 0;  // of a trace

  double flops() const;
  /// What is exchanged for this rank, in elements: the tensor of a sum, all parts of a gather or of
  /// a scattered sum, what is sent, to the rank itself included. The same for sums by the library
  /// and by ranks.
  std::int64_t payload(int group_size) const;
};

struct StepSchedule {
  std::vector<TrafficOp> ops = {};
  int slots = 0;
  bool overlaps = false;
  /// Nodes of a trace that communicate nothing: in a group of one rank, or no bytes.
  std::int64_t of_one_rank = 0, empty = 0;
  double imbalance = 1.0;  // the busiest expert rank's tokens over the mean, worst of all layers

  /// For more than control.
  bool uses(TrafficGroup group) const;
  double flops(TrafficPass pass) const;
  std::int64_t payload(TrafficGroup group, int group_size) const;
};

/// Throws Error(input) for a model that cannot be split like this, or of sizes or numbers of
/// operations beyond any step.
StepSchedule make_step_schedule(const StepSettings& settings, const TrafficPlace& place);

}  // namespace bench

// Hierarchical sequential transduction units (HSTU, arXiv 2402.17152) as a ranking model: from the
// items that a user was shown and the actions on the earlier ones, the model predicts the action on
// each. Attention has SiLUs instead of a softmax, biases by distance and by time, and a gate.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "training/engine/graph.h"
#include "training/kernels/hstu_kernels.h"

namespace bench::training {

struct HstuShape {
  std::int64_t layers = 0, width = 0, heads = 0, head_dim = 0;
  std::int64_t events = 0;   // of a history at most
  std::int64_t items = 0;    // rows of the item table
  std::int64_t columns = 0;  // of the item table
  std::int64_t groups = 0;   // of users
  std::int64_t buckets = 0;  // of the time between two events

  HstuAttentionShape attention() const { return {events, heads, head_dim, buckets}; }
};

/// tiny, small, standard, dlrm_v4 (the layers of MLPerf Training's recommendation_v4).
std::vector<std::string> hstu_presets();
/// Throws Error(input) for another name, listing these.
HstuShape hstu_preset(std::string_view name);

/// What precedes the first event: its action.
inline constexpr std::int32_t kNoAction = 2;
/// The label of a row beyond a history's end.
inline constexpr std::int32_t kNoLabel = -1;

/// Inputs have `events` rows for each sample, of which the first ones are the history's; the items
/// of others may be any, their labels are kNoLabel.
struct Hstu {
  std::unique_ptr<Graph> graph;
  Var lengths;   // int32 [samples, 1]
  Var items;     // int32 [rows, 1]: shown in this event
  Var previous;  // int32 [rows, 1]: the item of the event before; 0 for the first
  Var actions;   // int32 [rows, 1]: the action on that: 0, 1 or kNoAction
  Var groups;    // int32 [rows, 1], of the user
  Var times;     // int32 [rows, 1], never falling within a history
  Var labels;    // int32 [rows, 1]: the action of this event, or kNoLabel
  Var logits;    // [rows, 1]: log-odds of the action 1
  Var losses;    // one per row
};

Hstu make_hstu(const HstuShape& shape, std::int64_t samples, Dtype dtype = Dtype::f32,
               bool recompute = false);

/// Forward and backward: three times the GEMMs of a forward pass over a history of full length.
double hstu_flops_per_sample(const HstuShape& shape);

}  // namespace bench::training

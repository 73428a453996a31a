// Which ranks of a training exchange what: groups of tensor, context, expert and data parallelism
// and pipelines, as Megatron-LM forms them. Rank = ((stage x copies + copy) x cp + context) x tp +
// tensor rank; with cp = 1 the order of training/parallel/model_ranks.h. Experts are divided over
// neighbours among the ranks that share a stage and a tensor rank.
#pragma once

#include <string_view>

#include "core/names.h"
#include "training/engine/pipeline.h"

namespace bench {

/// `data`: ranks with the same dense parameters, which sum their gradients; `expert_data`: those
/// with the same experts.
enum class TrafficGroup { all, tensor, pipeline, data, context, expert, expert_data };
inline constexpr NameTable<TrafficGroup, 7> kTrafficGroups{{{{TrafficGroup::all, "all"},
                                                             {TrafficGroup::tensor, "tp"},
                                                             {TrafficGroup::pipeline, "pp"},
                                                             {TrafficGroup::data, "dp"},
                                                             {TrafficGroup::context, "cp"},
                                                             {TrafficGroup::expert, "ep"},
                                                             {TrafficGroup::expert_data, "edp"}}}};
constexpr std::size_t kTrafficGroupCount = 7;

struct TrafficSplit {
  int tensor = 1;    // tp
  int pipeline = 1;  // pp
  int context = 1;   // cp
  int expert = 1;    // ep
  training::PipelineSchedule schedule = training::PipelineSchedule::one_forward_one_backward;
  bool sequence_parallel = false;  // with tensor > 1
  int zero = 0;                    // ZeRO's stage, over the ranks of `data`

  int ranks_of_copy() const { return tensor * context * pipeline; }
};

/// The place of one rank.
struct TrafficPlace {
  int rank = 0, ranks = 1;
  int copies = 1;  // dp
  int tensor = 0, context = 0, copy = 0, stage = 0;

  /// Among the ranks of the same stage and tensor rank, which see different tokens.
  int token_rank(const TrafficSplit& split) const { return copy * split.context + context; }
};

/// Throws Error(input) where so many ranks cannot be split like this.
TrafficPlace traffic_place(const TrafficSplit& split, int rank, int ranks);

/// What is the same for all ranks of a group and different for others (Group::subgroup).
int group_number(TrafficGroup group, const TrafficSplit& split, const TrafficPlace& place);
int group_size(TrafficGroup group, const TrafficSplit& split, const TrafficPlace& place);
/// The place's rank in the group, in the order of all ranks.
int rank_in_group(TrafficGroup group, const TrafficSplit& split, const TrafficPlace& place);

/// "tp=2,sp=1,pp=2,dp=2": what is above 1.
std::string split_text(const TrafficSplit& split, int copies);

}  // namespace bench

// The order in which a stage of a pipeline works through the micro-batches of a step, and its links
// to the stages before and after it.
#pragma once

#include <string_view>
#include <vector>

#include "training/engine/graph.h"
#include "training/engine/model_part.h"

namespace bench::training {

enum class PipelineSchedule {
  /// As soon as a stage is warm, one forward and one backward pass in turn (PipeDream-flush, arXiv
  /// 2006.09503; Megatron-LM, arXiv 2104.04473): at most `stages` micro-batches are kept.
  one_forward_one_backward,
  /// All forward passes, then all backward passes (arXiv 1811.06965): every micro-batch is kept.
  gpipe
};

std::string_view to_string(PipelineSchedule schedule);
/// "1f1b" or "gpipe". Throws Error(input) for another name.
PipelineSchedule pipeline_schedule_from(std::string_view name);

struct StagePass {
  bool forward = true;
  int micro_batch = 0;
  bool operator==(const StagePass&) const = default;
};

/// Of one stage. Micro-batches pass in order, forward and backward.
std::vector<StagePass> stage_passes(PipelineSchedule schedule, const ModelPart& part,
                                    int micro_batches);
/// The most micro-batches between their forward and backward pass.
int micro_batches_in_flight(const std::vector<StagePass>& passes);

/// The share of a step in which a stage waits if all stages and passes take equally long and
/// messages take no time: (p - 1) / (m + p - 1), for both schedules (arXiv 2104.04473, 2.2.1).
double ideal_bubble(int stages, int micro_batches);

/// Messages between neighbouring stages, which keep their order. Sending does not wait.
class StageLinks {
 public:
  virtual ~StageLinks() = default;
  virtual void send_to_next(View activations) = 0;
  virtual void receive_from_previous(View activations) = 0;
  virtual void send_to_previous(View gradient) = 0;
  virtual void receive_from_next(View gradient) = 0;
};

/// How a replica is one stage.
struct Stage {
  StageLinks* links = nullptr;
  std::vector<StagePass> passes = {};
  Var received = {}, sent = {};  // of Model
};

}  // namespace bench::training

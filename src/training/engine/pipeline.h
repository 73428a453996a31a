// The order in which a stage of a pipeline works through the micro-batches of a step, and its links
// to the stages before and after it. A stage has one run of layers, or several chunks of them
// (interleaved): chunk c of stage s is number c x stages + s of the model, and the last stage sends
// to the first one, for its next chunk.
#pragma once

#include <string_view>
#include <vector>

#include "training/engine/graph.h"
#include "training/engine/model_part.h"
#include "training/engine/plan.h"

namespace bench::training {

enum class PipelineSchedule {
  /// As soon as a stage is warm, one forward and one backward pass in turn (PipeDream-flush, arXiv
  /// 2006.09503; Megatron-LM, arXiv 2104.04473): at most `stages` micro-batches are kept.
  one_forward_one_backward,
  /// All forward passes, then all backward passes (arXiv 1811.06965): every micro-batch is kept.
  gpipe,
  /// As one_forward_one_backward, but the gradients of weights wait until the stage has nothing
  /// else to do (ZB-H1, arXiv 2401.10241): at most `stages` micro-batches are kept.
  zero_bubble
};

std::string_view to_string(PipelineSchedule schedule);
/// "1f1b", "gpipe" or "zero_bubble". Throws Error(input) for another name.
PipelineSchedule pipeline_schedule_from(std::string_view name);

struct StagePass {
  enum Kind {
    forward,
    backward,
    weight_gradients  // what zero_bubble leaves out of `backward`
  };
  Kind kind = forward;
  int micro_batch = 0;
  int chunk = 0;
  bool operator==(const StagePass&) const = default;
};

/// What its passes need of a plan.
WeightGradients weight_gradients(PipelineSchedule schedule);
/// Of one stage. Every chunk sees micro-batches in order, forward and backward. Throws Error(input)
/// if a schedule does not interleave chunks, or interleaved micro-batches are not a multiple of the
/// stages.
std::vector<StagePass> stage_passes(PipelineSchedule schedule, const ModelPart& part,
                                    int micro_batches);
/// The most micro-batches between their first and last pass.
int micro_batches_in_flight(const std::vector<StagePass>& passes);

/// The share of a step in which a stage waits if all stages take equally long, a backward pass the
/// same time in all of them, and messages no time. For p stages of v chunks and m micro-batches,
/// (p - 1) / (v m + p - 1) (arXiv 2104.04473, 2.2). With zero_bubble, if forward passes, gradients
/// of activations and gradients of weights take equally long, w / (3 m + w) with w = p - 1
/// (arXiv 2401.10241, 2.3), and max(0, p - m) more if micro-batches are too few.
double ideal_bubble(PipelineSchedule schedule, const ModelPart& part, int micro_batches);

/// Messages between neighbouring stages, which keep their order. Sending does not wait.
class StageLinks {
 public:
  virtual ~StageLinks() = default;
  virtual void send_to_next(View activations) = 0;
  virtual void receive_from_previous(View activations) = 0;
  virtual void send_to_previous(View gradient) = 0;
  virtual void receive_from_next(View gradient) = 0;
};

/// A stage's run of layers. Absent: the model's first chunk receives, and its last one sends,
/// nothing.
struct StageChunk {
  Var received = {}, sent = {};
  ActionRange forward = {}, backward = {};  // of the plan; the former in plans of evaluation too
};
/// Ascending.
std::vector<StageChunk> stage_chunks(const Plan& plan, const Model& model);

/// How a replica is one stage.
struct Stage {
  StageLinks* links = nullptr;
  std::vector<StagePass> passes = {};
  std::vector<StageChunk> chunks = {};
};

}  // namespace bench::training

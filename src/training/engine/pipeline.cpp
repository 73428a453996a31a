#include "training/engine/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/names.h"

namespace bench::training {
namespace {

constexpr NameTable<PipelineSchedule, 3> kSchedules{
    {{{PipelineSchedule::one_forward_one_backward, "1f1b"},
      {PipelineSchedule::gpipe, "gpipe"},
      {PipelineSchedule::zero_bubble, "zero_bubble"}}}};

/// Pass `number` forward through the chunks: as many micro-batches as there are stages go through
/// one chunk after the other (arXiv 2104.04473, figure 4).
StagePass interleaved_pass(StagePass::Kind kind, int number, const ModelPart& part) {
  const int group = part.stages * part.chunks;
  const int chunk = number % group / part.stages;
  return {kind, number / group * part.stages + number % part.stages,
          kind == StagePass::forward ? chunk : part.chunks - 1 - chunk};
}

std::vector<StagePass> interleaved_passes(const ModelPart& part, int micro_batches) {
  if (micro_batches % part.stages != 0)
    throw Error(ErrorKind::input,
                fmt::format("{} micro-batches cannot pass {} stages of several chunks in groups "
                            "of {}",
                            micro_batches, part.stages, part.stages),
                "use a batch (and micro_batch) that makes a multiple of them, or vp 1");
  const int all = micro_batches * part.chunks;
  const int ahead =
      std::min(2 * (part.stages - part.stage - 1) + (part.chunks - 1) * part.stages, all);
  std::vector<StagePass> passes;
  const auto add = [&](StagePass::Kind kind, int number) {
    passes.push_back(interleaved_pass(kind, number, part));
  };
  for (int i = 0; i < ahead; ++i) add(StagePass::forward, i);
  for (int i = 0; i < all; ++i) {
    if (ahead + i < all) add(StagePass::forward, ahead + i);
    add(StagePass::backward, i);
  }
  return passes;
}

}  // namespace

std::string_view to_string(PipelineSchedule schedule) { return kSchedules.name(schedule); }
PipelineSchedule pipeline_schedule_from(std::string_view name) {
  return kSchedules.value(name, "pipeline schedule");
}

WeightGradients weight_gradients(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::zero_bubble ? WeightGradients::last
                                                   : WeightGradients::with_activations;
}

std::vector<StagePass> stage_passes(PipelineSchedule schedule, const ModelPart& part,
                                    int micro_batches) {
  if (part.chunks > 1) {
    if (schedule != PipelineSchedule::one_forward_one_backward)
      throw Error(ErrorKind::input,
                  fmt::format("pipeline_schedule {} has no order for stages of {} chunks",
                              to_string(schedule), part.chunks),
                  "use 1f1b, or vp 1");
    return interleaved_passes(part, micro_batches);
  }
  // Forward passes before the first backward pass: the last stage can turn round at once.
  const int ahead = schedule == PipelineSchedule::gpipe
                        ? micro_batches
                        : std::min(part.stages - part.stage, micro_batches);
  const bool splits_backward = weight_gradients(schedule) == WeightGradients::last;
  std::vector<StagePass> passes;
  for (int i = 0; i < ahead; ++i) passes.push_back({StagePass::forward, i});
  for (int i = 0; i < micro_batches; ++i) {
    passes.push_back({StagePass::backward, i});
    // Later stages begin with fewer micro-batches, and may keep as many more.
    if (splits_backward && i >= part.stage)
      passes.push_back({StagePass::weight_gradients, i - part.stage});
    if (ahead + i < micro_batches) passes.push_back({StagePass::forward, ahead + i});
  }
  if (splits_backward)
    for (int i = std::max(0, micro_batches - part.stage); i < micro_batches; ++i)
      passes.push_back({StagePass::weight_gradients, i});
  return passes;
}

int micro_batches_in_flight(const std::vector<StagePass>& passes) {
  const bool splits_backward = std::ranges::any_of(
      passes, [](const StagePass& pass) { return pass.kind == StagePass::weight_gradients; });
  const auto last = splits_backward ? StagePass::weight_gradients : StagePass::backward;
  int now = 0, most = 0;
  for (const StagePass& pass : passes) {
    if (pass.chunk != 0) continue;  // the first to begin, and the last to end
    now += pass.kind == StagePass::forward ? 1 : pass.kind == last ? -1 : 0;
    most = std::max(most, now);
  }
  return most;
}

double ideal_bubble(PipelineSchedule schedule, const ModelPart& part, int micro_batches) {
  const int filling = part.stages - 1;
  const auto share = [](int wait, int work) {
    return static_cast<double>(wait) / static_cast<double>(wait + work);
  };
  if (schedule != PipelineSchedule::zero_bubble) return share(filling, part.chunks * micro_batches);
  return share(filling + std::max(0, part.stages - micro_batches), 3 * micro_batches);
}

namespace {

/// Of the node that makes `result`.
int action_of(const Plan& plan, Var result, Phase phase) {
  const int node = plan.graph->tensor(result.id).producer;
  const auto found = std::ranges::find_if(plan.actions, [&](const Action& action) {
    return action.node == node && action.phase == phase;
  });
  require(found != plan.actions.end(), "pipeline",
          "a chunk without " + std::string(to_string(phase)) + " pass");
  return static_cast<int>(found - plan.actions.begin());
}

}  // namespace

std::vector<StageChunk> stage_chunks(const Plan& plan, const Model& model) {
  StageChunk chunk;
  chunk.received = model.stage.received;
  chunk.forward = {0, plan.backward_begin};
  chunk.backward = {plan.backward_begin, plan.weights_begin};
  std::vector<StageChunk> chunks;
  for (const Var next : model.stage.next_chunks) {
    const int between = action_of(plan, next, Phase::forward);
    StageChunk rest = chunk;
    rest.received = next;
    rest.forward.first = between + 1;
    chunk.forward.last = between;
    const Node& node =
        plan.graph->nodes()[static_cast<std::size_t>(plan.graph->tensor(next.id).producer)];
    chunk.sent = {next.graph, node.inputs.front()};
    if (plan.training) {
      const int back = action_of(plan, next, Phase::backward);
      rest.backward.last = back;
      chunk.backward.first = back + 1;
    }
    chunks.push_back(std::exchange(chunk, rest));
  }
  chunk.sent = model.stage.sent;
  chunks.push_back(chunk);
  return chunks;
}

}  // namespace bench::training

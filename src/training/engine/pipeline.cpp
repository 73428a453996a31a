#include "training/engine/pipeline.h"

#include <algorithm>

#include "core/names.h"

namespace bench::training {
namespace {

constexpr NameTable<PipelineSchedule, 2> kSchedules{
    {{{PipelineSchedule::one_forward_one_backward, "1f1b"}, {PipelineSchedule::gpipe, "gpipe"}}}};

}  // namespace

std::string_view to_string(PipelineSchedule schedule) { return kSchedules.name(schedule); }
PipelineSchedule pipeline_schedule_from(std::string_view name) {
  return kSchedules.value(name, "pipeline schedule");
}

std::vector<StagePass> stage_passes(PipelineSchedule schedule, const ModelPart& part,
                                    int micro_batches) {
  // Forward passes before the first backward pass: the last stage can turn round at once.
  const int ahead = schedule == PipelineSchedule::gpipe
                        ? micro_batches
                        : std::min(part.stages - part.stage, micro_batches);
  std::vector<StagePass> passes;
  for (int i = 0; i < ahead; ++i) passes.push_back({true, i});
  for (int i = 0; i < micro_batches; ++i) {
    passes.push_back({false, i});
    if (ahead + i < micro_batches) passes.push_back({true, ahead + i});
  }
  return passes;
}

int micro_batches_in_flight(const std::vector<StagePass>& passes) {
  int now = 0, most = 0;
  for (const StagePass& pass : passes) {
    now += pass.forward ? 1 : -1;
    most = std::max(most, now);
  }
  return most;
}

double ideal_bubble(int stages, int micro_batches) {
  return static_cast<double>(stages - 1) / static_cast<double>(micro_batches + stages - 1);
}

}  // namespace bench::training

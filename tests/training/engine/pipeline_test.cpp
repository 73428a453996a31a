// The order in which the stages of a pipeline work.
#include "training/engine/pipeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::training {
namespace {

/// The share of a step in which a stage waits, by playing the passes of all stages: each takes one
/// unit of time, and starts once its stage is free and its message has arrived.
double played_bubble(PipelineSchedule schedule, int stages, int chunks, int micro_batches) {
  std::vector<std::vector<StagePass>> passes;
  for (int stage = 0; stage < stages; ++stage)
    passes.push_back(stage_passes(schedule, {.stage = stage, .stages = stages, .chunks = chunks},
                                  micro_batches));
  using Done = std::map<std::pair<int, int>, int>;  // end, by chunk of the model and micro-batch
  Done forward, backward;
  std::vector<std::size_t> next(passes.size());
  std::vector<int> free(passes.size());
  const int last = stages * chunks - 1;
  /// Where a pass stands among all chunks of the model, and the end of the pass before it there.
  const auto begin_of = [&](const StagePass& pass, int at) -> std::optional<int> {
    if (pass.kind == StagePass::weight_gradients) return backward.at({at, pass.micro_batch});
    const bool is_forward = pass.kind == StagePass::forward;
    if (!is_forward && at == last) return forward.at({at, pass.micro_batch});
    if (is_forward && at == 0) return 0;
    const Done& done = is_forward ? forward : backward;
    const auto before = done.find({is_forward ? at - 1 : at + 1, pass.micro_batch});
    return before == done.end() ? std::nullopt : std::optional(before->second);
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t stage = 0; stage < passes.size(); ++stage) {
      if (next[stage] == passes[stage].size()) continue;
      const StagePass pass = passes[stage][next[stage]];
      const int at = pass.chunk * stages + static_cast<int>(stage);
      const std::optional<int> begin = begin_of(pass, at);
      if (!begin) continue;
      free[stage] = std::max(free[stage], *begin) + 1;
      if (pass.kind == StagePass::forward) forward[{at, pass.micro_batch}] = free[stage];
      if (pass.kind == StagePass::backward) backward[{at, pass.micro_batch}] = free[stage];
      ++next[stage];
      moved = true;
    }
  }
  for (std::size_t stage = 0; stage < passes.size(); ++stage)
    REQUIRE(next[stage] == passes[stage].size());
  REQUIRE(std::ranges::all_of(
      passes, [&](const auto& of_stage) { return of_stage.size() == passes.front().size(); }));
  const int end = *std::ranges::max_element(free);
  return 1.0 - static_cast<double>(passes.front().size()) / end;
}

}  // namespace

TEST_CASE("the stages of a pipeline never block each other, and wait as long as the formula says") {
  const auto check = [](PipelineSchedule schedule, int stages, int chunks, int micro_batches) {
    INFO(to_string(schedule) << ", " << stages << " stages of " << chunks << ", " << micro_batches);
    CHECK(played_bubble(schedule, stages, chunks, micro_batches) ==
          Approx(ideal_bubble(schedule, {.stages = stages, .chunks = chunks}, micro_batches))
              .margin(1e-12));
  };
  for (const auto schedule : {PipelineSchedule::one_forward_one_backward, PipelineSchedule::gpipe,
                              PipelineSchedule::zero_bubble})
    for (const int stages : {1, 2, 3, 4, 7})
      for (const int micro_batches : {1, 2, 4, 9, 16}) check(schedule, stages, 1, micro_batches);
  for (const int stages : {2, 3, 4})
    for (const int chunks : {2, 3, 4})
      for (const int groups : {1, 2, 5})
        check(PipelineSchedule::one_forward_one_backward, stages, chunks, groups * stages);
}

TEST_CASE("schedules keep as many micro-batches as they say") {
  const auto kept = [](PipelineSchedule schedule, int stage, int chunks = 1) {
    return micro_batches_in_flight(
        stage_passes(schedule, {.stage = stage, .stages = 4, .chunks = chunks}, 16));
  };
  CHECK(kept(PipelineSchedule::one_forward_one_backward, 0) == 4);
  CHECK(kept(PipelineSchedule::one_forward_one_backward, 3) == 1);
  CHECK(kept(PipelineSchedule::gpipe, 0) == 16);
  for (const int stage : {0, 1, 2, 3}) CHECK(kept(PipelineSchedule::zero_bubble, stage) == 4);
  CHECK(kept(PipelineSchedule::one_forward_one_backward, 0, 2) == 8);
  CHECK(kept(PipelineSchedule::one_forward_one_backward, 3, 2) == 5);
}

TEST_CASE("schedules that do not exist are refused with what to do") {
  CHECK(pipeline_schedule_from("zero_bubble") == PipelineSchedule::zero_bubble);
  CHECK_THROWS_AS(pipeline_schedule_from("zigzag"), Error);
  const ModelPart part{.stages = 4, .chunks = 2};
  CHECK_THROWS_WITH(stage_passes(PipelineSchedule::one_forward_one_backward, part, 6),
                    Catch::Matchers::Contains("6 micro-batches cannot pass 4 stages"));
  CHECK_THROWS_WITH(stage_passes(PipelineSchedule::zero_bubble, part, 8),
                    Catch::Matchers::Contains("no order for stages of 2 chunks"));
}

}  // namespace bench::training

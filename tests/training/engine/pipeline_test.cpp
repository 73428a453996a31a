// The order in which the stages of a pipeline work.
#include "training/engine/pipeline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench::training {
namespace {

/// The share of a step in which a stage waits, by playing the passes of all stages: each takes one
/// unit of time, and starts once its stage is free and its message has arrived.
double played_bubble(PipelineSchedule schedule, int stages, int micro_batches) {
  std::vector<std::vector<StagePass>> passes;
  for (int stage = 0; stage < stages; ++stage)
    passes.push_back(stage_passes(schedule, {0, 1, stage, stages}, micro_batches));
  std::map<std::pair<int, int>, int> forward, backward;  // end, by stage and micro-batch
  std::vector<std::size_t> next(passes.size());
  std::vector<int> free(passes.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (int stage = 0; stage < stages; ++stage) {
      const auto at = static_cast<std::size_t>(stage);
      if (next[at] == passes[at].size()) continue;
      const StagePass pass = passes[at][next[at]];
      const int neighbour = pass.forward ? stage - 1 : stage + 1;
      const auto& done = pass.forward ? forward : backward;
      const bool alone = neighbour < 0 || neighbour == stages;
      const auto arrived = done.find({neighbour, pass.micro_batch});
      if (!alone && arrived == done.end()) continue;
      free[at] = std::max(free[at], alone ? 0 : arrived->second) + 1;
      (pass.forward ? forward : backward)[{stage, pass.micro_batch}] = free[at];
      ++next[at];
      moved = true;
    }
  }
  for (int stage = 0; stage < stages; ++stage)
    REQUIRE(next[static_cast<std::size_t>(stage)] ==
            passes[static_cast<std::size_t>(stage)].size());
  const int end = *std::ranges::max_element(free);
  return 1.0 - 2.0 * micro_batches / end;
}

}  // namespace

TEST_CASE("the stages of a pipeline never block each other, and wait as long as the formula says") {
  for (const auto schedule : {PipelineSchedule::one_forward_one_backward, PipelineSchedule::gpipe})
    for (const int stages : {1, 2, 3, 4, 7})
      for (const int micro_batches : {1, 2, 4, 9, 16}) {
        INFO(to_string(schedule) << ", " << stages << " stages, " << micro_batches);
        CHECK(played_bubble(schedule, stages, micro_batches) ==
              Approx(ideal_bubble(stages, micro_batches)).margin(1e-12));
      }
}

TEST_CASE("one forward and one backward pass in turn keep a micro-batch per following stage") {
  const auto kept = [](PipelineSchedule schedule, int stage) {
    return micro_batches_in_flight(stage_passes(schedule, {0, 1, stage, 4}, 16));
  };
  CHECK(kept(PipelineSchedule::one_forward_one_backward, 0) == 4);
  CHECK(kept(PipelineSchedule::one_forward_one_backward, 3) == 1);
  CHECK(kept(PipelineSchedule::gpipe, 0) == 16);
  CHECK(pipeline_schedule_from("gpipe") == PipelineSchedule::gpipe);
  CHECK_THROWS_AS(pipeline_schedule_from("zigzag"), Error);
}

}  // namespace bench::training

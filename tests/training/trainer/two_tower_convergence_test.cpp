// What two_tower tiny learns, on interactions whose best ranking is known.
#include <iostream>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/study.h"
#include "tests/training/two_tower_training.h"
#include "training/workloads/workload.h"

namespace bench::training {
namespace {

/// A line for each evaluation.
struct PrintedRankings final : RunObserver {
  explicit PrintedRankings(std::int64_t samples) : batch(samples) {}
  void evaluation_stop(std::int64_t samples, const Quality& quality) override {
    std::cout << "step " << samples / batch << " gap " << quality.gap << " cross-entropy gap "
              << quality.parts[3].second << "\n";
  }
  std::int64_t batch;
};

}  // namespace

// By hand: training_tests "two_tower tiny reaches its target", with SEED, STEPS, RATE as asked.
TEST_CASE("two_tower tiny reaches its target", "[.evidence]") {
  const StudyClock clock;
  const auto seed = static_cast<std::uint64_t>(asked_number("SEED", 1));
  TrainerOptions options;
  options.recipe = make_workload("two_tower", "tiny", seed)->recipe();
  Recipe& recipe = options.recipe;
  const double target = recipe.target.value();
  recipe.horizon = recipe.schedule.horizon = asked_count("STEPS", recipe.horizon);
  recipe.schedule.peak = asked_number("RATE", recipe.schedule.peak);
  if (asked_number("TO_THE_END", 0) != 0) recipe.target = -1.0;
  options.seed = seed;
  options.lanes = 2;
  const auto alone = make_self_group();
  PrintedRankings looks(recipe.batch);
  const TrainingRun run = train_two_tower(seed, options, *alone, looks).run;
  for (const auto& [name, value] : run.parts) std::cout << name << " " << value << "\n";
  const CurvePoint& last = run.curve.back();
  std::cout << "recall " << last.native << " of " << last.floor << "\n";
  clock.print(run);
  CHECK(last.gap <= target);
}

}  // namespace bench::training

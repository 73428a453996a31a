// What dlrm tiny learns, on click logs whose highest AUC is known.
#include <chrono>
#include <iostream>

#include "tests/support/catch.h"
#include "tests/support/thread_group.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/study.h"

namespace bench::training {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A line for each evaluation.
struct PrintedLooks final : RunObserver {
  explicit PrintedLooks(std::int64_t samples) : batch(samples) {}
  void evaluation_stop(std::int64_t samples, const Quality& quality) override {
    std::cout << "step " << samples / batch << " gap " << quality.gap << " log-loss gap "
              << quality.parts[1].second << "\n";
  }
  std::int64_t batch;
};

}  // namespace

// By hand: training_tests "dlrm tiny reaches its target", with SEED, LANES, MICRO, STEPS as asked.
TEST_CASE("dlrm tiny reaches its target", "[.evidence]") {
  const auto begin = std::chrono::steady_clock::now();
  const auto seed = static_cast<std::uint64_t>(asked_count("SEED", 1));
  const Recipe preset = make_workload("dlrm", "tiny", seed)->recipe();
  TrainerOptions options;
  options.recipe = preset;
  options.recipe.horizon = asked_count("STEPS", preset.horizon);
  if (asked_count("TO_THE_END", 0) != 0) options.recipe.target = -1.0;
  options.seed = seed;
  options.lanes = static_cast<int>(asked_count("LANES", 2));
  options.recipe.micro_batch = preset.batch / (options.lanes * asked_count("MICRO", 4));
  const auto alone = make_self_group();
  PrintedLooks looks(preset.batch);
  const std::clock_t cpu = std::clock();  // says what a machine that others use too hides
  const TrainingRun run = train_dlrm(seed, options, *alone, looks).run;
  double training = 0.0;
  for (const TrainedStep& step : run.steps) training += step.seconds;
  const double gap = run.curve.back().gap;
  std::cout << "gap " << gap << " after " << training << " s of steps and " << seconds_since(begin)
            << " s in all, " << run.curve.back().samples / training << " samples/s; "
            << static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC
            << " CPU seconds, evaluations included\n";
  CHECK(gap <= preset.target);
}

// 0.052 is the gap of a model that knows every feature's effect and no interaction.
TEST_CASE("dlrm tiny learns interactions within 150 steps", "[long]") {
  const auto alone = make_self_group();
  const TrainingRun run = train_dlrm(1, dlrm_training(150, 32768), *alone).run;
  CHECK(run.steps.size() == 150);
  CHECK(run.curve.back().gap < 0.032);
  CHECK(run.curve.back().gap >
        0.01);  // better than it can be yet: it would have seen these samples
  CHECK(run.parts[1].second < 0.05);
  CHECK(run.parts[2].second == Approx(1.0).margin(0.05));
  CHECK(run.parts[3].second == Approx(0.052).margin(0.004));
  check_that_all_held(run);
}

}  // namespace bench::training

// For studies of whole trainings that are run by hand: what was asked for, and each evaluation.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iostream>
#include <string>

#include "devices/host_clock.h"
#include "tests/support/catch.h"
#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"
#include "training/trainer/trainer.h"

namespace bench::training {

/// The number in a variable of the environment, or `otherwise`.
inline double asked_number(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atof(text) : otherwise;
}
inline std::int64_t asked_count(const char* name, std::int64_t otherwise) {
  return static_cast<std::int64_t>(asked_number(name, static_cast<double>(otherwise)));
}

/// Time since its construction.
class StudyClock {
 public:
  /// What the last gap took; CPU time says what a machine that others use too hides.
  void print(const TrainingRun& run) const {
    double steps = 0.0;
    for (const TrainedStep& step : run.steps) steps += step.seconds;
    const CurvePoint& last = run.curve.back();
    std::cout << "gap " << last.gap << " after " << steps << " s of steps and "
              << (steady_now() - begin_).value << " s in all, " << last.samples / steps
              << " samples/s; " << static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC
              << " CPU seconds, evaluations included\n";
  }

 private:
  Seconds begin_ = steady_now();
  std::clock_t cpu_ = std::clock();
};

/// A line for each evaluation: steps of `batch` samples, gap and parts.
struct PrintedGaps final : RunObserver {
  explicit PrintedGaps(std::int64_t samples) : batch(samples) {}
  void evaluation_stop(std::int64_t samples, const Quality& quality) override {
    std::cout << "step " << samples / batch << " gap " << quality.gap;
    for (const auto& [name, value] : quality.parts) std::cout << " " << name << " " << value;
    std::cout << "\n";
  }
  std::int64_t batch;
};

/// The recipe with what was asked by BATCH, MICRO, STEPS, WARMUP, RATE, CLIP, EVERY, JUDGED and
/// TO_THE_END.
inline Recipe asked_recipe(Recipe recipe) {
  recipe.batch = asked_count("BATCH", recipe.batch);
  recipe.micro_batch = asked_count("MICRO", recipe.micro_batch);
  recipe.horizon = recipe.schedule.horizon = asked_count("STEPS", recipe.horizon);
  recipe.schedule.warmup = asked_count("WARMUP", recipe.schedule.warmup);
  recipe.schedule.peak = asked_number("RATE", recipe.schedule.peak);
  recipe.clip = asked_number("CLIP", recipe.clip);
  recipe.evaluation_every = asked_count("EVERY", recipe.evaluation_every);
  recipe.evaluation_samples = asked_count("JUDGED", recipe.evaluation_samples);
  if (asked_number("TO_THE_END", 0) != 0) recipe.target.reset();
  return recipe;
}

inline std::uint64_t asked_seed() { return static_cast<std::uint64_t>(asked_count("SEED", 1)); }

/// Trains by the recipe on LANES lanes with the asked seed, prints gaps, `sizes` of the model and
/// times since `clock`, and fails unless the gap is at most `target` and all checks held.
inline void run_study(Workload& workload, const Recipe& recipe, double target,
                      const StudyClock& clock,
                      const std::function<std::string(const Trainer&)>& sizes) {
  TrainerOptions options;
  options.recipe = recipe;
  options.seed = asked_seed();
  options.lanes = static_cast<int>(asked_count("LANES", 2));
  const auto alone = make_self_group();
  PrintedGaps looks(recipe.batch);
  Trainer trainer(
      workload, options, [](Dtype dtype) { return host_kernels(dtype); }, *alone);
  const TrainingRun run = trainer.run(looks);
  const CurvePoint& last = run.curve.back();
  std::cout << "floor " << last.floor << " target " << target << " " << sizes(trainer) << "\n";
  clock.print(run);
  CHECK(last.gap <= target);
  check_that_all_held(run);
}

}  // namespace bench::training

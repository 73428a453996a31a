// Faults that the trainings of several workloads are tested with, and what each must show.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/group_with.h"
#include "tests/support/thread_group.h"
#include "tests/training/losing_exchange.h"
#include "tests/training/passing_optimizer.h"
#include "tests/training/short_training.h"

namespace bench::training {

/// Never updates the parameters that have so many elements.
class StaleParameters final : public PassingOptimizer {
 public:
  StaleParameters(std::unique_ptr<OptimizerKernels> real, std::int64_t elements)
      : PassingOptimizer(std::move(real)), elements_(elements) {}
  void adamw(const AdamwRange& range) override {
    if (range.parameters.elements() != elements_) PassingOptimizer::adamw(range);
  }
  void momentum(const MomentumRange& range) override {
    if (range.parameters.elements() != elements_) PassingOptimizer::momentum(range);
  }

 private:
  std::int64_t elements_;
};

/// Updates with one learning rate, whatever the schedule says.
class FixedRate final : public PassingOptimizer {
 public:
  FixedRate(std::unique_ptr<OptimizerKernels> real, double rate)
      : PassingOptimizer(std::move(real)), rate_(rate) {}
  void adamw(const AdamwRange& range) override {
    StepNumbers numbers = *range.step;
    numbers.rate = rate_;
    AdamwRange changed = range;
    changed.step = &numbers;
    PassingOptimizer::adamw(changed);
  }
  void momentum(const MomentumRange& range) override {
    StepNumbers numbers = *range.step;
    numbers.rate = rate_;
    MomentumRange changed = range;
    changed.step = &numbers;
    PassingOptimizer::momentum(changed);
  }

 private:
  double rate_;
};

inline std::function<void(KernelSet&)> without_updates_of(std::int64_t elements) {
  return [elements](KernelSet& set) {
    set.optimizer = std::make_unique<StaleParameters>(std::move(set.optimizer), elements);
  };
}

inline std::function<void(KernelSet&)> with_fixed_rate(double rate) {
  return [rate](KernelSet& set) {
    set.optimizer = std::make_unique<FixedRate>(std::move(set.optimizer), rate);
  };
}

/// train(group, observer, lanes) on every rank, two lanes in all; of two ranks, rank 1 may lose a
/// share of its gradient in the check.
inline std::vector<TrainingRun> train_on_ranks(
    int ranks, double loses,
    const std::function<TrainingRun(Group& group, RunObserver& observer, int lanes)>& train) {
  std::vector<TrainingRun> runs(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Group& group) {
    LosingExchange collectives(group, loses);
    GroupWith all(group, collectives);
    runs[static_cast<std::size_t>(group.rank())] = train(all, collectives, 2 / ranks);
  });
  return runs;
}

/// The first steps of a workload's recipe in small batches, evaluated every ten steps.
inline ShortTraining first_steps(const std::string& workload, Recipe recipe, std::int64_t steps) {
  ShortTraining training;
  training.workload = workload;
  training.recipe = std::move(recipe);
  training.recipe.target = -1.0;
  training.recipe.horizon = steps;
  training.recipe.evaluation_every = std::min<std::int64_t>(steps, 10);
  training.recipe.evaluation_samples = 16;
  return training;
}

inline std::vector<TrainingRun> train_on_ranks(int ranks, double loses,
                                               const ShortTraining& training) {
  return train_on_ranks(ranks, loses, [&](Group& group, RunObserver& observer, int lanes) {
    ShortTraining own = training;
    own.lanes = lanes;
    return train_short(own, group, observer);
  });
}

/// Losses and gradient norms are those of `one`, to the bit.
inline void check_same_steps(const TrainingRun& run, const TrainingRun& one) {
  REQUIRE(run.steps.size() == one.steps.size());
  for (std::size_t step = 0; step < run.steps.size(); ++step) {
    CHECK(run.steps[step].loss == one.steps[step].loss);
    CHECK(run.steps[step].gradient_norm == one.steps[step].gradient_norm);
  }
}

/// The check `data` of a training of ten steps whose inputs change after they were read for the
/// last step, but not when they are read again.
inline TrainingCheck data_after_late_change(
    ShortTraining training, const std::function<void(const Model&, const Lane&)>& change) {
  const std::int64_t of_step = training.recipe.batch / training.recipe.micro_batch;
  std::atomic<std::int64_t> reads{0};
  training.spoil = [&](const Model& model, const Lane& lane) {
    if (++reads > of_step * 9 && reads <= of_step * 10) change(model, lane);
  };
  return check_named(train_short(training), "data");
}

/// Of two ranks, the second draws the samples of another seed, which both must find.
inline void check_that_other_samples_are_found(const ShortTraining& training) {
  std::vector<TrainingRun> runs(2);
  run_ranks(2, [&](Group& group) {
    ShortTraining own = training;
    own.lanes = 1;
    if (group.rank() == 1) own.source_seed = 2;
    runs[static_cast<std::size_t>(group.rank())] = train_short(own, group);
  });
  for (const TrainingRun& run : runs)
    CHECK_THAT(check_named(run, "data").text,
               Catch::Matchers::Contains("differ from those that rank 0 generates"));
}

}  // namespace bench::training

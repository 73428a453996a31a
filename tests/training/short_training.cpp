#include "tests/training/short_training.h"

#include <stdexcept>

#include "tests/support/catch.h"
#include "tests/training/changed_workload.h"
#include "training/host/host_kernels.h"
#include "training/workloads/llm.h"

namespace bench::training {

Recipe short_recipe(std::int64_t steps, double target) {
  Recipe recipe = llm_training("tiny").recipe;
  recipe.horizon = steps;
  recipe.schedule.horizon = steps;
  recipe.schedule.warmup = 20;
  recipe.target = target;
  recipe.evaluation_every = 10;
  recipe.evaluation_samples = 16;
  return recipe;
}

TrainingRun train_short(const ShortTraining& training, Group& group, RunObserver& observer) {
  ChangedWorkload workload(training.make
                               ? training.make()
                               : make_workload(training.workload, "tiny", training.source_seed));
  workload.repeat = training.repeat;
  if (training.spoil || training.spoil_all)
    workload.spoil = [&](Split split, const Model& model, const Lane& lane) {
      if (training.spoil && split == Split::train) training.spoil(model, lane);
      if (training.spoil_all) training.spoil_all(model, lane);
    };
  TrainerOptions options;
  options.recipe = training.recipe;
  options.lanes = training.split.divides_model() ? 1 : training.lanes;
  options.dtype = training.dtype;
  options.steps = training.steps;
  options.check_every = 10;
  options.split = training.split;
  options.recompute = training.recompute;
  options.profile = training.profile;
  options.check_bytes = training.check_bytes;
  options.parallel = training.parallel;
  options.checkpoint = training.checkpoint;
  options.checkpoint_every = training.checkpoint_every;
  options.resume = training.resume;
  const KernelFactory kernels = [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    if (training.inject) training.inject(set);
    return set;
  };
  Trainer trainer(workload, options, kernels, group);
  return trainer.run(observer);
}

TrainingRun train_short(const ShortTraining& training, Group& group) {
  RunObserver nobody;
  return train_short(training, group, nobody);
}

TrainingRun train_short(const ShortTraining& training) {
  const auto alone = make_self_group();
  return train_short(training, *alone);
}

Pretrained pretrain_here(Workload& base, Workload& task) {
  const auto alone = make_self_group();
  return pretrain(
      base, task, {.recipe = base.recipe(), .lanes = 2}, {},
      [](Dtype dtype) { return host_kernels(dtype); }, *alone);
}

const TrainingCheck& check_named(const TrainingRun& run, const std::string& name) {
  for (const TrainingCheck& check : run.checks)
    if (check.check == name) return check;
  throw std::out_of_range("the run made no check '" + name + "'");
}

void check_that_all_held(const TrainingRun& run) {
  CHECK_FALSE(run.checks.empty());
  for (const TrainingCheck& check : run.checks) {
    INFO(check.check << ": " << check.text);
    CHECK(check.held);
  }
}

}  // namespace bench::training

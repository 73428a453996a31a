#include "tests/training/grpo_training.h"

#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"

namespace bench::training {

GrpoSetting quick_grpo(std::int64_t base_steps) {
  GrpoSetting setting = grpo_setting("tiny");
  setting.base = base_training(setting.base, base_steps);
  setting.base.recipe.evaluation_samples = 16;
  setting.recipe.batch = 8;
  setting.recipe.micro_batch = 2;
  setting.recipe.evaluation_samples = 8;
  return setting;
}

Pretrained grpo_base_of(const GrpoSetting& setting) {
  const auto base = make_grpo_base_workload_from("tiny", setting);
  const auto task = make_grpo_workload_from("tiny", setting, 1);
  return pretrain_here(*base, *task);
}

TrainingRun train_grpo(const GrpoTraining& training, Group& group, RunObserver& observer) {
  const KernelFactory kernels = [&](Dtype dtype) {
    KernelSet set = training.kernels ? training.kernels(dtype) : host_kernels(dtype);
    if (training.inject) training.inject(set);
    return set;
  };
  ChangedWorkload workload(make_grpo_workload_from("tiny", training.setting, training.seed));
  if (training.change) training.change(workload);
  TrainerOptions options;
  options.recipe = training.setting.recipe;
  options.recipe.horizon = options.recipe.schedule.horizon = training.steps;
  options.recipe.evaluation_every = std::min<std::int64_t>(training.steps, 10);
  options.recipe.target.reset();
  options.lanes = training.lanes;
  options.check_every = 10;
  options.dtype = training.dtype;
  options.base = training.base;
  Trainer trainer(workload, options, kernels, group);
  return trainer.run(observer);
}

TrainingRun train_grpo(const GrpoTraining& training) {
  const auto alone = make_self_group();
  RunObserver nobody;
  return train_grpo(training, *alone, nobody);
}

}  // namespace bench::training

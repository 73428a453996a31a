#include "tests/training/lora_training.h"

#include "tests/training/short_training.h"
#include "training/host/host_kernels.h"

namespace bench::training {

LoraSetting quick_lora(std::int64_t base_steps) {
  LoraSetting setting = lora_setting("tiny");
  setting.base = base_training(setting.base, base_steps);
  Recipe& base = setting.base.recipe;
  base.schedule.warmup = 5;
  base.evaluation_samples = setting.training.recipe.evaluation_samples = 16;
  return setting;
}

Pretrained base_of(const LoraSetting& setting) {
  const auto base = make_lora_base_workload_from("tiny", setting);
  const auto task = make_lora_workload_from("tiny", setting, 1);
  return pretrain_here(*base, *task);
}

const Pretrained& quick_base() {
  static const Pretrained made = base_of(quick_lora());
  return made;
}

TrainingRun train_lora(const LoraTraining& training, Group& group, RunObserver& observer) {
  const KernelFactory kernels = [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    if (training.inject) training.inject(set);
    return set;
  };
  ChangedWorkload workload(make_lora_workload_from("tiny", training.setting, training.seed));
  if (training.change) training.change(workload);
  TrainerOptions options = training.options;
  options.recipe = training.setting.training.recipe;
  if (training.steps > 0) {
    options.recipe.horizon = training.steps;
    options.recipe.evaluation_every = 10;
    options.recipe.target.reset();
  }
  options.base = training.base;
  Trainer trainer(workload, options, kernels, group);
  return trainer.run(observer);
}

TrainingRun train_lora(const LoraTraining& training) {
  const auto alone = make_self_group();
  RunObserver nobody;
  return train_lora(training, *alone, nobody);
}

}  // namespace bench::training

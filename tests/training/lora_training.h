// Trainings of lora tiny by the trainer itself, for tests.
#pragma once

#include <cstdint>
#include <functional>

#include "tests/training/changed_workload.h"
#include "training/trainer/pretraining.h"
#include "training/workloads/lora.h"

namespace bench::training {

/// lora tiny with a base trained over few steps, and evaluated on few samples.
LoraSetting quick_lora(std::int64_t base_steps = 20);

/// Trains the setting's base.
Pretrained base_of(const LoraSetting& setting);

/// The base of quick_lora(), trained once.
const Pretrained& quick_base();

/// A training of adapters over so many steps without a target, evaluated and checked every ten
/// steps; 0: by the setting's recipe.
struct LoraTraining {
  LoraSetting setting = quick_lora();
  std::int64_t steps = 20;
  TrainerOptions options = {.lanes = 2, .check_every = 10};  // `recipe` is the setting's
  std::uint64_t seed = 1;
  const Pretrained* base = &quick_base();
  /// Changes the kernels of every lane.
  std::function<void(KernelSet&)> inject = {};
  /// Changes the samples.
  std::function<void(ChangedWorkload&)> change = {};
};
TrainingRun train_lora(const LoraTraining& training, Group& group, RunObserver& observer);
TrainingRun train_lora(const LoraTraining& training);

}  // namespace bench::training

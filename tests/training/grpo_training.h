// Trainings of grpo tiny by the trainer itself, for tests.
#pragma once

#include <cstdint>
#include <functional>

#include "tests/training/changed_workload.h"
#include "training/trainer/pretraining.h"
#include "training/workloads/grpo.h"

namespace bench::training {

/// grpo tiny with small batches and a base trained over few steps.
GrpoSetting quick_grpo(std::int64_t base_steps = 20);

/// Trains the setting's base.
Pretrained grpo_base_of(const GrpoSetting& setting);

/// A training without a target, evaluated and checked every ten steps.
struct GrpoTraining {
  GrpoSetting setting = quick_grpo();
  std::int64_t steps = 10;
  int lanes = 2;
  std::uint64_t seed = 1;
  Dtype dtype = Dtype::f32;
  const Pretrained* base = nullptr;  // null: rewards are drawn
  KernelFactory kernels = {};        // null: the host's
  /// Changes the kernels of every lane.
  std::function<void(KernelSet&)> inject = {};
  /// Changes the samples.
  std::function<void(ChangedWorkload&)> change = {};
};
TrainingRun train_grpo(const GrpoTraining& training, Group& group, RunObserver& observer);
TrainingRun train_grpo(const GrpoTraining& training);

}  // namespace bench::training

// One-second trainings of llm tiny or another tiny workload, correct or with injected faults, for
// tests.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "training/trainer/pretraining.h"
#include "training/trainer/trainer.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// The preset's recipe over this many steps, evaluated every ten steps on sixteen sequences.
Recipe short_recipe(std::int64_t steps, double target);

struct ShortTraining {
  std::string workload = "llm";
  std::function<std::unique_ptr<Workload>()> make = {};  // instead of that workload's preset tiny
  Recipe recipe = short_recipe(40, 0.0);
  int lanes = 2;
  Dtype dtype = Dtype::f32;
  std::uint64_t source_seed = 1;  // of the training samples
  std::uint64_t repeat = 0;       // after so many samples they are the first ones again; 0: never
  std::int64_t steps = 0;
  ModelSplit split = {};
  double check_bytes = 1 << 30;  // TrainerOptions
  bool recompute = false;
  bool profile = false;
  DataParallelOptions parallel = {};
  std::filesystem::path checkpoint = {};
  std::int64_t checkpoint_every = 10;
  bool resume = false;
  /// Changes the kernels of every lane.
  std::function<void(KernelSet&)> inject = {};
  /// Changes a lane's inputs; called before each training micro-batch.
  std::function<void(const Model&, const Lane&)> spoil = {};
  /// The same for evaluation micro-batches too.
  std::function<void(const Model&, const Lane&)> spoil_all = {};
};

TrainingRun train_short(const ShortTraining& training, Group& group);
TrainingRun train_short(const ShortTraining& training);
TrainingRun train_short(const ShortTraining& training, Group& group, RunObserver& observer);

/// Trains a base on two lanes of the host, without a cache.
Pretrained pretrain_here(Workload& base, Workload& task);

/// Throws std::out_of_range if the run has no such check.
const TrainingCheck& check_named(const TrainingRun& run, const std::string& name);

/// A test fails for each check of the run that did not hold, and for a run without checks.
void check_that_all_held(const TrainingRun& run);

}  // namespace bench::training

// Trainings of two_tower tiny by the trainer itself, for tests.
#pragma once

#include <cstdint>
#include <functional>

#include "training/trainer/trainer.h"

namespace bench::training {

/// The preset's recipe over the first `steps` steps of its schedule, without a target, evaluated
/// only at the end.
TrainerOptions two_tower_training(std::int64_t steps);

struct TrainedTowers {
  TrainingRun run = {};
  std::uint64_t tables = 0;  // SparseTables::hash() at the end
};

/// On samples of `seed`. `inject` changes the kernels of every lane and of the tables.
TrainedTowers train_two_tower(std::uint64_t seed, const TrainerOptions& options, Group& group,
                              RunObserver& observer,
                              const std::function<void(KernelSet&)>& inject = {});
TrainedTowers train_two_tower(std::uint64_t seed, const TrainerOptions& options, Group& group);

}  // namespace bench::training

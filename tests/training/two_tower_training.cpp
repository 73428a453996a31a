#include "tests/training/two_tower_training.h"

#include "training/host/host_kernels.h"
#include "training/tables/sparse_tables.h"
#include "training/workloads/two_tower.h"

namespace bench::training {

TrainerOptions two_tower_training(std::int64_t steps) {
  TrainerOptions options;
  options.recipe = two_tower_setting("tiny").recipe;
  options.recipe.horizon = steps;
  options.recipe.target = -1.0;
  options.recipe.evaluation_every = steps;
  options.lanes = 2;
  return options;
}

TrainedTowers train_two_tower(std::uint64_t seed, const TrainerOptions& options, Group& group,
                              RunObserver& observer,
                              const std::function<void(KernelSet&)>& inject) {
  const KernelFactory kernels = [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    if (inject) inject(set);
    return set;
  };
  const auto workload = make_two_tower_workload("tiny", seed);
  Trainer trainer(*workload, options, kernels, group);
  TrainedTowers trained{trainer.run(observer)};
  trained.tables = workload->tables()->hash();
  return trained;
}

TrainedTowers train_two_tower(std::uint64_t seed, const TrainerOptions& options, Group& group) {
  RunObserver nobody;
  return train_two_tower(seed, options, group, nobody);
}

}  // namespace bench::training

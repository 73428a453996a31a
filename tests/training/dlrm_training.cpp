#include "tests/training/dlrm_training.h"

#include "probes/training/backends/host/host_kernels.h"
#include "probes/training/tables/sparse_tables.h"
#include "probes/training/workloads/dlrm.h"
#include "probes/training/workloads/dlrm_recipes.h"

namespace bench::training {

TrainerOptions dlrm_training(std::int64_t steps, std::int64_t evaluation_samples) {
  TrainerOptions options;
  options.recipe = dlrm_setting("tiny").recipe;
  options.recipe.horizon = steps;
  options.recipe.target = -1.0;
  options.recipe.evaluation_every = steps;
  options.recipe.evaluation_samples = evaluation_samples;
  options.lanes = 2;
  return options;
}

TrainedDlrm train_dlrm(std::uint64_t seed, const TrainerOptions& options, Group& group) {
  RunObserver nobody;
  return train_dlrm(seed, options, group, nobody);
}

TrainedDlrm train_dlrm(std::uint64_t seed, const TrainerOptions& options, Group& group,
                       RunObserver& observer, const std::function<void(KernelSet&)>& inject) {
  const auto workload = make_dlrm_workload("tiny", seed);
  const KernelFactory kernels = [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    if (inject) inject(set);
    return set;
  };
  Trainer trainer(*workload, options, kernels, group);
  TrainedDlrm trained{trainer.run(observer)};
  trained.tables = workload->tables()->hash();
  return trained;
}

}  // namespace bench::training

#include "tests/training/dlrm_training.h"

#include "training/host/host_kernels.h"
#include "training/tables/sparse_tables.h"
#include "training/workloads/dlrm.h"

namespace bench::training {
namespace {

TrainedDlrm train(std::uint64_t seed, const TrainerOptions& options, const KernelFactory& kernels,
                  Group& group, RunObserver& observer) {
  const auto workload = make_dlrm_workload("tiny", seed);
  Trainer trainer(*workload, options, kernels, group);
  TrainedDlrm trained{trainer.run(observer)};
  trained.tables = workload->tables()->hash();
  return trained;
}

}  // namespace

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
  const KernelFactory kernels = [&](Dtype dtype) {
    KernelSet set = host_kernels(dtype);
    if (inject) inject(set);
    return set;
  };
  return train(seed, options, kernels, group, observer);
}

TrainedDlrm train_dlrm_with(const KernelFactory& kernels, TrainerOptions options, Group& group) {
  options.host_kernels = [](Dtype dtype) { return host_kernels(dtype); };
  RunObserver nobody;
  return train(1, options, kernels, group, nobody);
}

TrainedDlrm train_dlrm_with(const KernelFactory& kernels, const TrainerOptions& options) {
  return train_dlrm_with(kernels, options, *make_self_group());
}

std::vector<double> train_dlrm_steps(const KernelFactory& kernels, int steps) {
  TrainerOptions options = dlrm_training(steps, 0);
  options.steps = steps;
  options.lanes = 1;
  std::vector<double> seen;
  for (const TrainedStep& step : train_dlrm_with(kernels, options).run.steps) {
    seen.push_back(step.loss);
    seen.push_back(step.gradient_norm);
  }
  return seen;
}

}  // namespace bench::training

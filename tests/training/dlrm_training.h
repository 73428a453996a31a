// Trainings of dlrm tiny by the trainer itself, for tests.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "training/trainer/trainer.h"

namespace bench::training {

/// The preset's recipe over the first `steps` steps of its schedule, without a target, evaluated
/// only at the end on this many samples.
TrainerOptions dlrm_training(std::int64_t steps, std::int64_t evaluation_samples);

struct TrainedDlrm {
  TrainingRun run = {};
  std::uint64_t tables = 0;  // SparseTables::hash() at the end
};

/// On samples of `seed`, with kernels of the host.
TrainedDlrm train_dlrm(std::uint64_t seed, const TrainerOptions& options, Group& group);
/// `inject` changes the kernels of every lane and of the tables.
TrainedDlrm train_dlrm(std::uint64_t seed, const TrainerOptions& options, Group& group,
                       RunObserver& observer, const std::function<void(KernelSet&)>& inject = {});
/// With these kernels for lanes and, if they use device memory, host kernels for tables.
TrainedDlrm train_dlrm_with(const KernelFactory& kernels, TrainerOptions options, Group& group);
/// One rank.
TrainedDlrm train_dlrm_with(const KernelFactory& kernels, const TrainerOptions& options);
/// The losses and gradient norms of its first steps in one lane.
std::vector<double> train_dlrm_steps(const KernelFactory& kernels, int steps);

}  // namespace bench::training

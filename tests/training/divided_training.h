// Trainings of models that are divided over ranks, which are threads.
#pragma once

#include <string>

#include "tests/training/short_training.h"

namespace bench::training {

/// As rank 0 reports it.
TrainingRun train_divided(const ShortTraining& training, int ranks);

/// The largest relative difference of losses and gradient norms, step by step, and of the native
/// metrics of evaluations. Asserts that there are as many.
double distance(const TrainingRun& a, const TrainingRun& b);

/// By label; a test fails if there is none.
double bytes_of(const TrainingRun& run, const std::string& label);
double seconds_of(const TrainingRun& run, RunPhase phase);

}  // namespace bench::training

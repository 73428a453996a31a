// Trainings of models that are divided over ranks, which are threads.
#pragma once

#include <filesystem>
#include <string>

#include "tests/training/short_training.h"

namespace bench::training {

/// As rank 0 reports it.
TrainingRun train_divided(const ShortTraining& training, int ranks);

/// The largest relative difference of losses and gradient norms, step by step, and of the native
/// metrics of evaluations. Asserts that there are as many.
double distance(const TrainingRun& a, const TrainingRun& b);

/// Asserts that a training over so many ranks, stopped after two of its steps, goes on from its
/// checkpoint as one that was not stopped. Returns the stopped one, ready to be resumed again.
ShortTraining resumed_to_the_bit(ShortTraining training, int ranks,
                                 const std::filesystem::path& folder);

/// By label; a test fails if there is none.
double bytes_of(const TrainingRun& run, const std::string& label);
double seconds_of(const TrainingRun& run, RunPhase phase);

}  // namespace bench::training

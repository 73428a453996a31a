// The records of a finished training: series, curves and facts.
#pragma once

#include <string>

#include "probes/state.h"
#include "training/parallel/training_kernels.h"
#include "training/trainer/trainer.h"

namespace bench {

/// A finished run and its setup.
struct FinishedTraining {
  const training::Workload& workload;
  const training::TrainerOptions& options;
  const training::Trainer& trainer;
  const training::TrainingRun& run;
  std::string kernels;
  Json host = nullptr;    // HostWatch::facts() of the run
  Conditions steps = {};  // of each step
  Json cache = nullptr;   // clear_cache()
  Json memory = nullptr;  // by the plan: {"bytes", "available", "largest_batch"} of one rank
  std::string offload_files = {};  // the file system of optimizer state in files
};

/// Whether its time to the target is valid: it met the target, and all checks passed.
bool converged_and_valid(const training::TrainingRun& run);

/// How the model is divided over ranks: "tp=2,pp=2,1f1b,zero=1"; "" if each has a whole one.
std::string split_text(const FinishedTraining& finished);

void write_training(State& state, const FinishedTraining& finished);

}  // namespace bench

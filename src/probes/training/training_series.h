// The series of a training.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/training/training_records.h"

namespace bench {

void write_training_series(State& state, const FinishedTraining& finished);

/// "target 0.12", or that there is none.
std::string target_text(std::optional<double> target);

/// A peak of one rank in FLOP/s, the reference for utilization.
struct TrainingPeak {
  double value = 0.0;
  std::string kind;  // "given", "measured"
  std::string source;
  bool clean = true;  // measured with clean samples, or given
};
/// Given as a parameter, and measured by gemm earlier in this run.
std::vector<TrainingPeak> training_peaks(const State& state);

}  // namespace bench

// The series of a training.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/training/training_records.h"

namespace bench {

/// The windows of steps of which rates are measured: from `first` on, without cold steps, each
/// `length` steps. Those between two evaluations, or (`evaluation_every` 0) about ten steps. With
/// local steps, whole periods, as the last step of a period has all of its exchange.
struct RateWindows {
  std::int64_t first = 0, length = 1;
};
RateWindows rate_windows(std::int64_t steps, std::int64_t evaluation_every,
                         const training::ExchangeMethod& method);

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

// The numbers of a training by which runs are compared.
#pragma once

#include "core/json.h"
#include "devices/crowding.h"
#include "devices/facts/host_pressure.h"
#include "probes/training/training_records.h"

namespace bench::training {

// Interference on the hosts during a training: load of other processes, steal time, CPU throttling.
// Times measured on a disturbed host do not represent an idle one.

class HostWatch {
 public:
  /// Starts the measurement; create one on every rank.
  HostWatch(Device& device, Group& group)
      : group_(group), crowding_(device, group), before_(HostPressure::now()) {}

  /// {others_share, steal_share, throttled_s} of the worst host; null where the kernel does not
  /// report it, or there is no quota. Call on every rank; all get the same result.
  Json facts();

 private:
  Group& group_;
  Crowding crowding_;
  HostPressure before_;
};

}  // namespace bench::training

namespace bench {

void write_training_series(State& state, const FinishedTraining& finished);

/// "the target 0.12", or that there is none.
std::string target_text(std::optional<double> target);

/// A peak of one rank in FLOP/s, the reference for utilization.
struct TrainingPeak {
  double value = 0.0;
  std::string kind;  // "given", "measured"
  std::string source;
};
/// What was given as a parameter, and what gemm reached earlier in this run.
std::vector<TrainingPeak> training_peaks(const State& state);

}  // namespace bench

// Reports a running training as events of its job: where it is, about once a second, later every
// ten seconds, and slowdowns of its steps at once (core/training_progress.h).
#pragma once

#include <optional>

#include "core/training_progress.h"
#include "probes/state.h"
#include "training/trainer/slowdown_watch.h"
#include "training/trainer/trainer.h"

namespace bench {

class LiveProgress {
 public:
  explicit LiveProgress(State& state) : state_(state) {}

  /// Call before the run. The arguments need not outlive the call.
  void describe(const training::Workload& workload, const training::TrainerOptions& options,
                const training::Trainer& trainer);
  void run_start();
  void step_recorded(const training::TrainingRun& run, std::int64_t step,
                     const training::StepOutcome& outcome);
  void evaluated(double gap) { progress_.gap = gap; }
  /// Reports the end, and a slowdown that lasted until then.
  void run_stop();

 private:
  void report();

  State& state_;
  TrainingProgress progress_ = {};  // what does not change, and the last step
  double items_per_step_ = 0.0;
  std::optional<double> step_at_peak_s_ = {};
  training::SlowdownWatch watch_ = {};
  Seconds begun_;
  Seconds reported_;                     // 0: not yet
  double steps_s_ = 0.0, losses_ = 0.0;  // since the last report
  std::int64_t steps_ = 0;
};

}  // namespace bench

#include "probes/training/live_progress.h"

#include <algorithm>

#include "devices/host_clock.h"
#include "probes/training/training_series.h"

namespace bench {
namespace {

/// Between two reports, after a run of `elapsed`: a training of a day makes 9,000. The first step
/// is reported too.
Seconds pace(Seconds elapsed) { return {std::clamp(elapsed.value / 100.0, 1.0, 10.0)}; }

}  // namespace

void LiveProgress::describe(const training::Workload& workload,
                            const training::TrainerOptions& options,
                            const training::Trainer& trainer) {
  const auto batch = static_cast<double>(options.recipe.batch);
  progress_.item = workload.item();
  progress_.last_step = options.steps > 0 ? options.steps : options.recipe.horizon;
  if (options.steps == 0) progress_.target = options.recipe.target;
  items_per_step_ = batch * static_cast<double>(workload.items_per_sample());
  const double flops = workload.flops_per_sample() * batch / trainer.ranks().all().size();
  if (const auto peaks = training_peaks(state_); !peaks.empty() && flops > 0.0)
    step_at_peak_s_ = flops / peaks.front().value;
}

void LiveProgress::run_start() { begun_ = steady_now(); }

void LiveProgress::step_recorded(const training::TrainingRun& run, std::int64_t step,
                                 const training::StepOutcome& outcome) {
  if (state_.group().rank() != 0) return;
  progress_.step = step + 1;
  steps_s_ += outcome.total.value;
  losses_ += run.steps.back().loss;
  ++steps_;
  if (const auto found = watch_.after_step(step, outcome))
    state_.event(kTrainingSlowdownEvent, to_json(*found));
  const Seconds now = steady_now();
  if (reported_.value > 0.0 && now - reported_ < pace(now - begun_)) return;
  reported_ = now;
  report();
}

void LiveProgress::report() {
  progress_.seconds = (reported_ - begun_).value;
  if (const auto steps = static_cast<double>(steps_); steps > 0.0) {
    progress_.step_s = steps_s_ / steps;
    progress_.items_per_second = items_per_step_ / progress_.step_s;
    progress_.loss = losses_ / steps;
    if (step_at_peak_s_) progress_.mfu = *step_at_peak_s_ / progress_.step_s;
  }
  state_.event(kTrainingProgressEvent, to_json(progress_));
  steps_s_ = losses_ = 0.0;
  steps_ = 0;
}

void LiveProgress::run_stop() {
  if (state_.group().rank() != 0) return;
  if (const auto last = watch_.finish(progress_.step))
    state_.event(kTrainingSlowdownEvent, to_json(*last));
  if (progress_.step == 0) return;  // there was nothing left to train
  reported_ = steady_now();
  report();
}

}  // namespace bench

// The loop of a training as its input sees it: take a batch, do a step, again.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "core/units.h"
#include "probes/data/loader/loader.h"
#include "probes/data/loader/steps.h"

namespace bench {
class Uploads;
}  // namespace bench

namespace bench::data {

struct LoopOptions {
  Seconds step = {};               // nominal, of each
  int batches_per_step = 1;        // as many devices take one each
  Seconds least_time = {};         // measured steps go on so long
  std::uint64_t least_steps = 20;  // and are so many
  std::uint64_t warm_up_steps = 0;
  std::uint64_t most_steps = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t first_epoch = 0;
  /// Takes the last batch of each step to a device; null: batches stay where they are.
  Uploads* uploads = nullptr;
  /// A batch travels while the step of the one before it runs; else the step waits for its batch.
  bool overlapped = true;
  /// Sees the last batch of the measured ones, after the clock was stopped.
  std::function<void(const Batch&)> last = {};
};

struct LoopResult {
  // Of each measured step:
  std::vector<double> wait_s = {};      // from asking for its batches to having them all
  std::vector<double> step_s = {};      // of the step as it was
  std::vector<double> interval_s = {};  // from its beginning to the next one's
  std::vector<double> exposed_s = {};   // of the way to the device what no step hid; empty without
  // Of each batch of them:
  std::vector<double> made_s = {};
  double first_batch_s = 0;  // from the beginning of the pass, before the warm-up
  double wall_s = 0;
  double nominal_step_s = 0;
  std::uint64_t batches = 0;
  std::uint64_t ready = 0;  // steps whose batches were there when they were asked for
  Effort effort = {};       // of the batches that were taken
  double idle_s = 0;        // of the workers together, warm-up included
  /// Of this process over the measured steps: the threads that make batches, the one that takes
  /// them, and steps that compute.
  double cpu_s = 0;

  std::uint64_t steps() const { return wait_s.size(); }
  double batches_per_second() const;
  /// Share of the wall time that was spent waiting for data: the data stall.
  double stall() const;
  /// Steps as long as they should be, over the wall time: what a device could at most have been
  /// used. DLIO takes the steps as they were, so that a host too busy to end a sleep in time counts
  /// as use.
  double use() const;
  double measured_use() const;  // as DLIO has it
  /// What steps took too long, over the wall time.
  double oversleep() const { return measured_use() - use(); }
  double readiness() const;
  /// Share of the wall time that went to copies to the device alongside no step.
  double exposed() const;
};

/// One pass of the loader.
LoopResult run_loop(Loader& loader, const Step& step, const LoopOptions& options);

}  // namespace bench::data

// Loops of a loader that are measured, checked and written.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/units.h"
#include "probes/data/loader/data_loader_setup.h"
#include "probes/data/loader/data_loader_step.h"
#include "probes/data/loader/loader.h"
#include "probes/state.h"

namespace bench {

// The loop of a training as its input sees it: take a batch, do a step, again.

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

// Whether a batch is what it should be: its samples made once more, by this thread alone.

/// Bytes and labels of the batch that another making gives otherwise.
std::uint64_t wrong_in_batch(const Pipeline& pipeline, const Loader& loader, const Batch& batch);

}  // namespace bench::data

namespace bench {

struct MeasuredLoop {
  data::LoopResult result;
  std::uint64_t wrong = 0;    // bytes of the last batch that one thread makes otherwise, or labels
  std::uint64_t damaged = 0;  // bytes of it that came to the device otherwise
  std::string obstacle = {};  // why batches are not as asked for: not locked

  double samples_per_second(const data::LoaderOptions& options) const {
    return result.batches_per_second() * static_cast<double>(options.batch_size);
  }
};

/// Without a step: as fast as batches come. `most_steps`: 0 for as many as the time has.
MeasuredLoop measure_loop(const DataLoaderSetup& setup, const data::LoaderOptions& options,
                          const LoopStep& step = {}, std::uint64_t most_steps = 0);

/// What the loader was, in a series' parameters.
Json loader_params(const data::LoaderOptions& options);

/// Rates in ten parts of the time, samples per second.
std::vector<double> rates_of(const data::LoopResult& result, const data::LoaderOptions& options);

/// Rate, cost by stages, waits of workers; a batch with wrong bits makes the job invalid.
void write_rates(State& state, const MeasuredLoop& loop, const data::LoaderOptions& options,
                 const Json& params);
/// Stall, waits, use.
void write_waits(State& state, const MeasuredLoop& loop, const Json& params);

}  // namespace bench

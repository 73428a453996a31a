// The loop of a training as its input sees it: take a batch, do a step, repeat. Measures, checks
// and reports such loops.
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

namespace bench::data {

struct LoopOptions {
  Seconds step = {};               // nominal, of each
  int batches_per_step = 1;        // one for each device
  Seconds least_time = {};         // minimum duration of the measured steps
  std::uint64_t least_steps = 20;  // and their minimum number
  std::uint64_t warm_up_steps = 0;
  std::uint64_t most_steps = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t first_epoch = 0;
  /// Copies the last batch of each step to a device; null: no copies.
  Uploads* uploads = nullptr;
  /// A batch is copied during the step of the previous one; else the step waits for its batch.
  bool overlapped = true;
  /// Called with the last measured batch, after the clock was stopped.
  std::function<void(const Batch&)> last = {};
};

struct LoopResult {
  // Of each measured step:
  std::vector<double> wait_s = {};      // from requesting its batches to receiving them all
  std::vector<double> step_s = {};      // actual length of the step
  std::vector<double> interval_s = {};  // from its start to the next one
  std::vector<double> exposed_s = {};   // transfer time that no step hid; empty without transfer
  // Of each batch of them:
  std::vector<double> made_s = {};
  double first_batch_s = 0;  // from the start of the pass, before the warm-up
  double wall_s = 0;
  double nominal_step_s = 0;
  std::uint64_t batches = 0;
  std::uint64_t ready = 0;  // steps whose batches were ready on request
  Effort effort = {};       // of the measured batches
  double idle_s = 0;        // of all workers, including the warm-up
  /// CPU time of this process during the measured steps: workers, consumer and computing steps.
  double cpu_s = 0;

  std::uint64_t steps() const { return wait_s.size(); }
  double batches_per_second() const;
  /// Share of the wall time spent waiting for data: the data stall.
  double stall() const;
  /// Nominal step times over the wall time: the maximum utilisation of a device. DLIO uses the
  /// actual step times, so that late wake-ups on a busy host count as utilisation.
  double use() const;
  double measured_use() const;  // as in DLIO
  /// Excess of the actual step times, over the wall time.
  double oversleep() const { return measured_use() - use(); }
  double readiness() const;
  /// Share of the wall time spent on copies to the device that no step hid.
  double exposed() const;
};

/// One pass of the loader.
LoopResult run_loop(Loader& loader, const Step& step, const LoopOptions& options);

/// The number of bytes and labels that differ when this thread alone makes the batch again.
std::uint64_t wrong_in_batch(const Pipeline& pipeline, const Loader& loader, const Batch& batch);

struct MeasuredLoop {
  LoopResult result;
  Conditions conditions = {};
  std::uint64_t wrong = 0;    // wrong bytes and labels of the last batch
  std::uint64_t damaged = 0;  // bytes of it that were corrupted on the way to the device
  std::string obstacle = {};  // why batches are not page-locked as requested

  double samples_per_second(const LoaderOptions& options) const {
    return result.batches_per_second() * static_cast<double>(options.batch_size);
  }
};

/// Without a step: as fast as batches arrive. `most_steps`: 0 for as many as fit in the time.
MeasuredLoop measure_loop(const DataLoaderSetup& setup, const LoaderOptions& options,
                          const LoopStep& step = {}, std::uint64_t most_steps = 0);

/// The series parameters that describe the loader.
Json loader_params(const LoaderOptions& options);

/// The rates of ten consecutive parts, in samples per second.
std::vector<double> rates_of(const LoopResult& result, const LoaderOptions& options);

/// Reports rate, cost by stage and waits of workers; a wrong batch makes the job invalid.
void write_rates(State& state, const MeasuredLoop& loop, const LoaderOptions& options,
                 const Json& params);
/// Reports stall, waits and utilisation.
void write_waits(State& state, const MeasuredLoop& loop, const Json& params);

}  // namespace bench::data

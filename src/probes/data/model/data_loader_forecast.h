// What a training with steps of a given length would see: foretold, and where asked for, measured.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "probes/data/loader/data_loader_series.h"
#include "probes/data/loader/data_loader_setup.h"
#include "probes/state.h"

namespace bench::data {

// What a training would wait for data, foretold: batches of measured lengths go through workers, a
// queue that holds so many, and a consumer that takes one and does a step. Nothing but times is
// simulated.

struct QueueSetup {
  int workers = 1;          // 0: the consumer makes its batches itself
  int prefetch_factor = 2;  // batches ahead for each worker
  bool in_order = true;
  bool shared_batches = false;  // all workers make one batch together (dispatch "sample")
  double step_s = 0.0;
  double exposed_s = 0.0;    // of each step's way to the device, what the step does not hide
  int batches_per_step = 1;  // as many devices as take one each
  std::uint64_t steps = 4000;
  std::uint64_t seed = 1;
};

struct Forecast {
  double stall = 0.0;                         // share of the time that is spent waiting, 0..1
  double slow_down = 1.0;                     // time over that of the steps alone
  double wait_p50_s = 0.0, wait_p99_s = 0.0;  // of a step
  double batches_per_second = 0.0;
};

/// `batch_s`: how long a worker needs for a batch, as measured, with all workers busy; drawn from
/// at random. The first tenth of the steps is not counted. Throws Error(internal) for no lengths,
/// or for steps of no time.
Forecast simulate_queue(const std::vector<double>& batch_s, const QueueSetup& setup);

/// The same without chance, from the rate without steps: 1 - step / time of its batches where that
/// is longer than the step, else 0; without workers, that time over both together.
double fluid_stall(double batches_per_second, const QueueSetup& setup);

// Steps of accelerators that MLPerf Storage emulates (mlcommons/storage v2.0, its workload files):
// how long a device computes on a batch, and what a sample weighs.

struct StepPreset {
  std::string_view name;
  double step_s = 0.0;
  std::uint64_t batch_size = 0;  // of one device
  double sample_bytes = 0.0;     // on the disk, on average
  double least_use = 0.0;        // of the device, that passes there
};

inline constexpr std::array<StepPreset, 6> kStepPresets{{
    {"resnet50_h100", 0.224, 400, 114660, 0.90},
    {"resnet50_a100", 0.435, 400, 114660, 0.90},
    {"unet3d_h100", 0.323, 7, 146600628, 0.90},
    {"unet3d_a100", 0.636, 7, 146600628, 0.90},
    {"cosmoflow_h100", 0.00350, 1, 2828486, 0.70},
    {"cosmoflow_a100", 0.00551, 1, 2828486, 0.70},
}};

/// Null for another name.
constexpr const StepPreset* step_preset(std::string_view name) {
  for (const StepPreset& preset : kStepPresets)
    if (preset.name == name) return &preset;
  return nullptr;
}

// A foretold stall alongside the measured one.

/// Samples per second of the loader without steps, before the steps and after them.
struct RatesAround {
  double before = 0.0, after = 0.0;

  /// How far the second is from the first, as a share of it.
  double drift() const;
};

struct StallComparison {
  bool conclusive = false;  // the loader was the same all the while
  double error = 0.0;       // absolute
  std::string reason = {};  // why nothing is concluded
};

/// With a drift of more than 5 % the host was another one meanwhile, and nothing is concluded; so
/// it is where a rate is unknown (NaN).
StallComparison compare_stalls(double predicted, double measured, const RatesAround& rates);

}  // namespace bench::data

namespace bench {

/// Each length of the parameter `steps`: the stall predicted from `before`, a loop without steps;
/// then the loop with steps, and a second one without, which tells whether the prediction may be
/// judged. Each of `presets`: predicted alone. What was found stands in facts["steps"] and
/// facts["presets"].
void write_forecasts(State& state, const DataLoaderSetup& setup, const data::LoaderOptions& options,
                     const MeasuredLoop& before, Json& facts);

}  // namespace bench

// The data stall of a training with steps of a given length: predicted and, on request, measured.
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

/// A simulation of workers, queue and consumer with measured batch times.
struct QueueSetup {
  int workers = 1;          // 0: the consumer makes its batches itself
  int prefetch_factor = 2;  // batches ahead for each worker
  bool in_order = true;
  bool shared_batches = false;  // all workers make one batch together (dispatch "sample")
  double step_s = 0.0;
  double exposed_s = 0.0;    // transfer time per step that the step does not hide
  int batches_per_step = 1;  // one for each device
  std::uint64_t steps = 4000;
  std::uint64_t seed = 1;
};

struct Forecast {
  double stall = 0.0;                         // share of the time spent waiting, 0..1
  double slow_down = 1.0;                     // time over the time of the steps alone
  double wait_p50_s = 0.0, wait_p99_s = 0.0;  // of a step
  double batches_per_second = 0.0;
};

/// `batch_s`: measured times of a worker per batch, with all workers busy; drawn at random. The
/// first tenth of the steps is not counted. Throws Error(internal) without batch times and if all
/// times are 0.
Forecast simulate_queue(const std::vector<double>& batch_s, const QueueSetup& setup);

/// The stall of a deterministic flow at the rate without steps: 1 - step / batch time, at least 0;
/// without workers, batch time / (batch time + step).
double fluid_stall(double batches_per_second, const QueueSetup& setup);

/// Accelerator steps that MLPerf Storage emulates (mlcommons/storage v2.0, its workload files).
struct StepPreset {
  std::string_view name;
  double step_s = 0.0;
  std::uint64_t batch_size = 0;  // per device
  double sample_bytes = 0.0;     // mean, on disk
  double least_use = 0.0;        // utilisation required by MLPerf Storage
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

/// Samples per second of the loader without steps, before the steps and after them.
struct RatesAround {
  double before = 0.0, after = 0.0;

  /// The relative change.
  double drift() const;
};

struct StallComparison {
  bool conclusive = false;  // the loader's rate did not change
  double error = 0.0;       // absolute
  std::string reason = {};  // why it is not conclusive
};

/// Not conclusive if the rate drifted by more than 5 % or is unknown (NaN).
StallComparison compare_stalls(double predicted, double measured, const RatesAround& rates);

/// For each length of the parameter `steps`: predicts the stall from `before`, a loop without
/// steps, then measures a loop with steps, and another one without, which decides whether the
/// prediction can be judged. For each of `presets`: predicts only. The results are in
/// facts["steps"] and facts["presets"].
void write_forecasts(State& state, const DataLoaderSetup& setup, const LoaderOptions& options,
                     const MeasuredLoop& before, Json& facts);

}  // namespace bench::data

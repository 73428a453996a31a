// Loops of a loader that are measured, checked and written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/data/loader/loop.h"
#include "probes/procedures/data_loader_setup.h"
#include "probes/procedures/data_loader_step.h"
#include "probes/state.h"

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

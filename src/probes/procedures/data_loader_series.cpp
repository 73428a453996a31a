#include "probes/procedures/data_loader_series.h"

#include <algorithm>

#include "core/order_statistics.h"
#include "probes/data/loader/batch_check.h"

namespace bench {
namespace {

constexpr std::size_t kParts = 10;

/// The queue is filled, caches are warm, and each worker has its memory.
std::uint64_t warm_up_steps(const data::LoaderOptions& options) {
  return 2 + static_cast<std::uint64_t>(options.num_workers * (options.prefetch_factor + 1));
}

void write_stages(State& state, const data::Effort& effort, const Json& params) {
  for (const auto& [stage, name] : data::kStages.entries) {
    const data::StageTime& time = effort.of(stage);
    if (time.wall_s <= 0.0) continue;
    Json own = params;
    own["stage"] = name;
    state.value("stage_time", time.cpu_s / effort.samples, own);
    state.value("stage_wall", time.wall_s / effort.samples, own);
  }
}

}  // namespace

MeasuredLoop measure_loop(const DataLoaderSetup& setup, const data::LoaderOptions& options,
                          const LoopStep& step, std::uint64_t most_steps) {
  data::Loader loader(*setup.pipeline, options);
  MeasuredLoop loop;
  loop.obstacle = loader.obstacle();
  data::LoopOptions ways;
  ways.step = step.length;
  ways.batches_per_step = step.length.value > 0.0 ? setup.devices : 1;
  ways.least_time = setup.time;
  ways.warm_up_steps = most_steps > 0 ? 0 : warm_up_steps(options);
  if (most_steps > 0) ways.most_steps = most_steps;
  ways.uploads = step.uploads;
  ways.overlapped = step.overlapped;
  ways.last = [&](const data::Batch& batch) {
    loop.wrong = data::wrong_in_batch(*setup.pipeline, loader, batch);
    if (step.uploads != nullptr) loop.damaged = step.uploads->wrong(batch.data);
  };
  loop.result = data::run_loop(loader, step.step, ways);
  return loop;
}

Json loader_params(const data::LoaderOptions& options) {
  return {{"num_workers", options.num_workers}, {"batch_size", options.batch_size}};
}

std::vector<double> rates_of(const data::LoopResult& result, const data::LoaderOptions& options) {
  const auto& intervals = result.interval_s;
  const std::size_t parts = std::min(kParts, intervals.size());
  const double samples = static_cast<double>(result.batches) /
                         static_cast<double>(intervals.size()) *
                         static_cast<double>(options.batch_size);
  std::vector<double> rates;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t first = part * intervals.size() / parts;
    const std::size_t last = (part + 1) * intervals.size() / parts;
    double seconds = 0.0;
    for (std::size_t i = first; i < last; ++i) seconds += intervals[i];
    rates.push_back(static_cast<double>(last - first) * samples / seconds);
  }
  return rates;
}

void write_rates(State& state, const MeasuredLoop& loop, const data::LoaderOptions& options,
                 const Json& params) {
  const data::LoopResult& result = loop.result;
  const data::Effort& effort = result.effort;
  state.values("samples_per_second", rates_of(result, options), params);
  const double rate = loop.samples_per_second(options);
  if (effort.bytes_read > 0.0)
    state.value("read_rate", effort.bytes_read / effort.samples * rate, params);
  const Check check{"the last batch against a single-threaded reference", static_cast<double>(loop.wrong),
                    0.0};
  state.value("samples_per_cpu_second", effort.samples / result.cpu_s, params, {}, check);
  state.value("of_stages", effort.stages_cpu_s() / result.cpu_s, params);
  write_stages(state, effort, params);
  if (result.first_batch_s > 0.0) state.value("first_batch", result.first_batch_s, params);
  if (options.num_workers > 0)
    state.value("queue_wait", result.idle_s / static_cast<double>(result.batches), params);
}

void write_waits(State& state, const MeasuredLoop& loop, const Json& params) {
  const data::LoopResult& result = loop.result;
  state.value("stall", result.stall(), params);
  state.values("wait", result.wait_s, params);
  state.value("wait_p99", quantile(result.wait_s, 0.99), params);
  state.value("readiness", result.readiness(), params);
  state.value("accelerator_use", result.use(), params);
  state.value("oversleep", result.oversleep(), params);
  if (!result.exposed_s.empty()) state.value("exposed_transfer", result.exposed(), params);
}

}  // namespace bench

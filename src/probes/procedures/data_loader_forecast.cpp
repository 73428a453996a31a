#include "probes/procedures/data_loader_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/order_statistics.h"
#include "core/text.h"
#include "probes/data/model/presets.h"
#include "probes/data/model/queue.h"
#include "probes/data/model/sweep.h"

namespace bench {
namespace {

constexpr double kMostDrift = 0.05;  // above it nothing is concluded

data::QueueSetup queue_of(const DataLoaderSetup& setup, const data::LoaderOptions& options,
                          Seconds step) {
  data::QueueSetup queue;
  queue.workers = options.num_workers;
  queue.prefetch_factor = options.prefetch_factor;
  queue.in_order = options.in_order;
  queue.shared_batches = options.dispatch == data::Dispatch::sample;
  queue.step_s = step.value;
  queue.batches_per_step = setup.devices;
  return queue;
}

/// How long batches take where `workers` of them are made at once: as measured, but for a batch
/// that all workers make together, which takes a worker's time as often as there are workers.
std::vector<double> batch_times(const MeasuredLoop& loop, const data::LoaderOptions& options) {
  const auto& intervals = loop.result.interval_s;
  if (options.dispatch != data::Dispatch::sample || options.num_workers == 0)
    return loop.result.made_s;
  std::vector<double> times = intervals;
  for (double& time : times) time *= options.num_workers;
  return times;
}

int needed(const DataLoaderSetup& setup, const MeasuredLoop& loop, std::uint64_t batch_size,
           double step_s) {
  const data::Effort& effort = loop.result.effort;
  return data::workers_needed(static_cast<double>(batch_size) * setup.devices / step_s,
                              effort.cpu_s / effort.samples);
}

Json forecast_facts(const data::Forecast& forecast) {
  return {{"predicted_stall", forecast.stall},
          {"predicted_slow_down", forecast.slow_down},
          {"predicted_wait_p50_s", forecast.wait_p50_s},
          {"predicted_wait_p99_s", forecast.wait_p99_s}};
}

Json write_forecast(State& state, const data::Forecast& forecast, int workers, const Json& params) {
  state.value("predicted_stall", forecast.stall, params);
  state.value("predicted_slow_down", forecast.slow_down, params);
  state.value("workers_needed", workers, params);
  Json facts = forecast_facts(forecast);
  facts["workers_needed"] = workers;
  return facts;
}

/// The forecast against what was measured, where the host was the same all the while.
void compare(State& state, double predicted, double measured, double before, double after,
             const Json& params, Json& facts) {
  const double drift = std::abs(after / before - 1.0);
  state.value("drift", drift, params);
  facts["stall"] = measured;
  facts["drift"] = drift;
  facts["verdict"] = drift > kMostDrift ? "inconclusive" : "comparable";
  if (drift <= kMostDrift)
    return state.value("prediction_error", std::abs(predicted - measured), params);
  const std::string reason = fmt::format(
      "inconclusive: without steps the loader made {:.4g} samples/s before and {:.4g} "
      "after; measure again on a quiet host, or for longer (time_s)",
      before, after);
  facts["reason"] = reason;
  state.skip_series("prediction_error", params, reason);
}

void write_step(State& state, const DataLoaderSetup& setup, const data::LoaderOptions& options,
                double step_s, MeasuredLoop& before, Json& facts) {
  Json params = loader_params(options);
  params["step_s"] = step_s;
  params["step"] = state.text("step");
  const StepOffer offer = make_step(state, {step_s});
  if (!offer.step) return state.skip_series("stall", params, offer.reason);
  const Seconds length = offer.step->length;
  const MeasuredLoop loop = measure_loop(setup, options, *offer.step);
  if (offer.step->verify && !offer.step->verify().passed())
    state.invalid("the products of the steps are wrong");
  MeasuredLoop after = measure_loop(setup, options);
  // Both looks at the loader without steps tell its batches' times.
  std::vector<double> times = batch_times(before, options);
  const std::vector<double> later = batch_times(after, options);
  times.insert(times.end(), later.begin(), later.end());
  const data::Forecast forecast = data::simulate_queue(times, queue_of(setup, options, {step_s}));
  Json own =
      write_forecast(state, forecast, needed(setup, before, options.batch_size, step_s), params);
  own["step_s"] = step_s;
  own["length_s"] = length.value;
  write_waits(state, loop, params);
  if (loop.wrong > 0)
    state.invalid(fmt::format("{} bytes of the last batch differ from those that one thread makes",
                              loop.wrong));
  compare(state, forecast.stall, loop.result.stall(), before.samples_per_second(options),
          after.samples_per_second(options), params, own);
  facts["steps"].push_back(own);
  before = std::move(after);
}

/// Of a batch of another size, from the time of a sample.
void write_preset(State& state, const DataLoaderSetup& setup, const data::LoaderOptions& options,
                  const data::StepPreset& preset, const MeasuredLoop& loop, Json& facts) {
  Json params = loader_params(options);
  params["preset"] = preset.name;
  params["batch_size"] = preset.batch_size;
  std::vector<double> times = batch_times(loop, options);
  const double factor =
      static_cast<double>(preset.batch_size) / static_cast<double>(options.batch_size);
  for (double& time : times) time *= factor;
  const data::Forecast forecast =
      data::simulate_queue(times, queue_of(setup, options, {preset.step_s}));
  Json own = write_forecast(state, forecast, needed(setup, loop, preset.batch_size, preset.step_s),
                            params);
  own["preset"] = preset.name;
  own["use"] = 1.0 - forecast.stall;
  own["least_use"] = preset.least_use;
  own["passes"] = 1.0 - forecast.stall >= preset.least_use;
  facts["presets"].push_back(own);
}

}  // namespace

void write_forecasts(State& state, const DataLoaderSetup& setup, const data::LoaderOptions& options,
                     const MeasuredLoop& before, Json& facts) {
  facts["steps"] = Json::array();
  facts["presets"] = Json::array();
  for (const auto& name : state.list<std::string>("presets"))
    if (const data::StepPreset* preset = data::step_preset(name))
      write_preset(state, setup, options, *preset, before, facts);
  MeasuredLoop last = before;
  for (const double step : state.list<double>("steps"))
    write_step(state, setup, options, step, last, facts);
}

}  // namespace bench

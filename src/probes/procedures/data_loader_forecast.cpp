#include "probes/procedures/data_loader_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "probes/data/model/comparison.h"
#include "probes/data/model/presets.h"
#include "probes/data/model/queue.h"
#include "probes/data/model/sweep.h"
#include "probes/procedures/data_loader_transfer.h"

namespace bench {
namespace {

data::QueueSetup queue_of(const DataLoaderSetup& setup, const data::LoaderOptions& options,
                          Seconds step, Seconds exposed) {
  data::QueueSetup queue;
  queue.workers = options.num_workers;
  queue.prefetch_factor = options.prefetch_factor;
  queue.in_order = options.in_order;
  queue.shared_batches = options.dispatch == data::Dispatch::sample;
  queue.step_s = step.value;
  queue.exposed_s = exposed.value;
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

/// What of the stall would go if batches came in any order; nothing where none waits for another.
std::optional<double> head_of_line(const std::vector<double>& times, data::QueueSetup queue) {
  if (!queue.in_order || queue.shared_batches || queue.workers < 2) return {};
  const double in_order = data::simulate_queue(times, queue).stall;
  queue.in_order = false;
  return std::max(0.0, in_order - data::simulate_queue(times, queue).stall);
}

Json write_forecast(State& state, const std::vector<double>& times, const data::QueueSetup& queue,
                    int workers, const Json& params) {
  const data::Forecast forecast = data::simulate_queue(times, queue);
  state.value("predicted_stall", forecast.stall, params);
  state.value("predicted_slow_down", forecast.slow_down, params);
  state.value("workers_needed", workers, params);
  Json facts = {{"predicted_stall", forecast.stall},
                {"predicted_slow_down", forecast.slow_down},
                {"predicted_wait_p50_s", forecast.wait_p50_s},
                {"predicted_wait_p99_s", forecast.wait_p99_s},
                {"workers_needed", workers}};
  if (const auto share = head_of_line(times, queue)) {
    state.value("head_of_line", *share, params);
    facts["head_of_line"] = *share;
  }
  return facts;
}

/// The forecast against what was measured, where the host was the same all the while.
void compare(State& state, double measured, const data::RatesAround& rates, const Json& params,
             Json& facts) {
  const double predicted = facts.at("predicted_stall").get<double>();
  const data::StallComparison found = data::compare_stalls(predicted, measured, rates);
  state.value("drift", rates.drift(), params);
  facts["stall"] = measured;
  facts["drift"] = rates.drift();
  facts["verdict"] = found.conclusive ? "comparable" : "inconclusive";
  if (found.conclusive) return state.value("prediction_error", found.error, params);
  facts["reason"] = found.reason;
  state.skip_series("prediction_error", params, found.reason);
}

void refuse_wrong_batches(State& state, const MeasuredLoop& loop) {
  if (loop.wrong > 0)
    state.invalid(fmt::format("{} bytes of the last batch differ from the single-threaded reference",
                              loop.wrong));
  if (loop.damaged > 0)
    state.invalid(fmt::format("{} bytes of the last batch were corrupted on the way to the device",
                              loop.damaged));
}

/// Steps of one length, between two looks at the loader without steps.
class StepForecast {
 public:
  StepForecast(State& state, const DataLoaderSetup& setup, const data::LoaderOptions& options,
               const Transfer& transfer)
      : state_(state), setup_(setup), options_(options), transfer_(transfer) {}

  void write(double step_s, MeasuredLoop& before, Json& facts) const {
    Json params = loader_params(options_);
    params["step_s"] = step_s;
    params["step"] = state_.text("step");
    const StepOffer offer = make_step(state_, {step_s});
    if (!offer.step) return state_.skip_series("stall", params, offer.reason);
    const Seconds length = offer.step->length;
    const MeasuredLoop loop = measure_loop(setup_, options_, transfer_.with(*offer.step));
    if (offer.step->verify && !offer.step->verify().passed())
      state_.invalid("the GEMM results of the steps are wrong");
    MeasuredLoop after = measure_loop(setup_, options_);
    // Both looks at the loader without steps tell its batches' times.
    std::vector<double> times = batch_times(before, options_);
    const std::vector<double> later = batch_times(after, options_);
    times.insert(times.end(), later.begin(), later.end());
    const auto queue = queue_of(setup_, options_, length, transfer_.exposed_by(length));
    Json own = write_forecast(state_, times, queue,
                              needed(setup_, before, options_.batch_size, length.value), params);
    own["step_s"] = step_s;
    own["length_s"] = length.value;
    write_waits(state_, loop, params);
    if (!transfer_.reason.empty()) state_.skip_series("exposed_transfer", params, transfer_.reason);
    refuse_wrong_batches(state_, loop);
    const data::RatesAround rates{before.samples_per_second(options_),
                                  after.samples_per_second(options_)};
    const double batches = (rates.before + rates.after) / 2.0 / options_.batch_size;
    own["fluid_stall"] = data::fluid_stall(batches, queue);
    state_.value("fluid_stall", own["fluid_stall"].get<double>(), params);
    compare(state_, loop.result.stall(), rates, params, own);
    facts["steps"].push_back(own);
    before = std::move(after);
  }

 private:
  State& state_;
  const DataLoaderSetup& setup_;
  const data::LoaderOptions& options_;
  const Transfer& transfer_;
};

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
  Json own = write_forecast(state, times, queue_of(setup, options, {preset.step_s}, {}),
                            needed(setup, loop, preset.batch_size, preset.step_s), params);
  const double use = 1.0 - own.at("predicted_stall").get<double>();
  own["preset"] = preset.name;
  own["use"] = use;
  own["least_use"] = preset.least_use;
  own["passes"] = use >= preset.least_use;
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
  const auto steps = state.list<double>("steps");
  if (steps.empty()) return;
  const Transfer transfer = make_transfer(state, setup, options);
  const StepForecast forecast(state, setup, options, transfer);
  MeasuredLoop last = before;
  for (const double step : steps) forecast.write(step, last, facts);
}

}  // namespace bench

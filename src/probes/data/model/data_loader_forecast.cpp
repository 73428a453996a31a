#include "probes/data/model/data_loader_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/order_statistics.h"
#include "devices/copies.h"
#include "probes/data/loader/data_loader_series.h"
#include "probes/data/loader/data_loader_step.h"
#include "probes/data/loader/loader.h"
#include "probes/data/loader/rates.h"
#include "probes/data/model/data_loader_limits.h"
#include "training/sources/random.h"

namespace bench::data {
namespace {

class QueueSimulation {
 public:
  QueueSimulation(const std::vector<double>& batch_s, const QueueSetup& setup)
      : lengths_(batch_s),
        setup_(setup),
        lanes_(setup.shared_batches ? 1 : std::max(setup.workers, 1)),
        ahead_(static_cast<std::uint64_t>(setup.workers * setup.prefetch_factor)),
        free_at_(static_cast<std::size_t>(lanes_), 0.0) {}

  /// When the next batch is available to a consumer that requests it at `now`.
  double take(double now) {
    if (setup_.workers == 0) return now + length();
    while (begun_ < taken_.size() + ahead_) start_next();
    // In order the oldest; otherwise the first one ready.
    auto best = waiting_.begin();
    if (!setup_.in_order) best = std::ranges::min_element(waiting_);
    const double got = std::max(now, *best);
    waiting_.erase(best);
    taken_.push_back(got);
    return got;
  }

 private:
  double length() {
    const std::uint64_t bits = random_bits(setup_.seed, drawn_++);
    const double whole = lengths_[bits % lengths_.size()];
    return setup_.shared_batches && setup_.workers > 0 ? whole / setup_.workers : whole;
  }

  /// Batch b may start once b - ahead_ + 1 batches were taken.
  void start_next() {
    const double allowed = begun_ < ahead_ ? 0.0 : taken_[begun_ - ahead_];
    auto lane = static_cast<std::size_t>(begun_ % static_cast<std::uint64_t>(lanes_));
    if (!setup_.in_order)
      lane = static_cast<std::size_t>(std::ranges::min_element(free_at_) - free_at_.begin());
    free_at_[lane] = std::max(free_at_[lane], allowed) + length();
    waiting_.push_back(free_at_[lane]);
    ++begun_;
  }

  const std::vector<double>& lengths_;
  const QueueSetup& setup_;
  int lanes_;
  std::uint64_t ahead_;
  std::vector<double> free_at_;  // by lane
  std::vector<double> taken_;    // time, by batch
  std::vector<double> waiting_;  // when each batch that is not taken is ready
  std::uint64_t begun_ = 0, drawn_ = 0;
};

}  // namespace

Forecast simulate_queue(const std::vector<double>& batch_s, const QueueSetup& setup) {
  if (batch_s.empty() || setup.steps < 10)
    throw Error(ErrorKind::internal, "cannot simulate a queue without batches");
  QueueSimulation queue(batch_s, setup);
  const std::uint64_t skipped = setup.steps / 10;
  std::vector<double> waits;
  double now = 0.0, begun = 0.0;
  for (std::uint64_t step = 0; step < setup.steps; ++step) {
    if (step == skipped) begun = now;
    const double asked = now;
    for (int i = 0; i < setup.batches_per_step; ++i) now = queue.take(now);
    if (step >= skipped) waits.push_back(now - asked);
    now += setup.step_s + setup.exposed_s;
  }
  Forecast forecast;
  const double wall = now - begun;
  const auto steps = static_cast<double>(waits.size());
  if (!(wall > 0.0)) throw Error(ErrorKind::internal, "step and batch times must be positive");
  forecast.stall = std::accumulate(waits.begin(), waits.end(), 0.0) / wall;
  forecast.slow_down = setup.step_s > 0.0 ? wall / (steps * setup.step_s) : 0.0;
  forecast.wait_p50_s = quantile(waits, 0.5);
  forecast.wait_p99_s = quantile(waits, 0.99);
  forecast.batches_per_second = steps * setup.batches_per_step / wall;
  return forecast;
}

double fluid_stall(double batches_per_second, const QueueSetup& setup) {
  const double made = setup.batches_per_step / batches_per_second;
  const double step = setup.step_s + setup.exposed_s;
  if (setup.workers == 0) return made / (made + step);
  return std::max(0.0, 1.0 - step / made);
}

namespace {

constexpr double kMostDrift = 0.05;

}  // namespace

double RatesAround::drift() const { return std::abs(after / before - 1.0); }

StallComparison compare_stalls(double predicted, double measured, const RatesAround& rates) {
  StallComparison found;
  found.error = std::abs(predicted - measured);
  found.conclusive = rates.drift() <= kMostDrift;
  if (!found.conclusive)
    found.reason = fmt::format(
        "inconclusive: without steps the loader reached {:.4g} samples/s before and {:.4g} after; "
        "rerun on an idle host, or increase time_s",
        rates.before, rates.after);
  return found;
}

namespace {

/// The transfer of batches to the device, inside the loop.
struct Transfer {
  std::unique_ptr<Uploads> uploads = {};  // null: batches stay in host memory
  std::string reason = {};                // why they do; "" if no transfer was requested
  bool overlapped = true;                 // a batch is copied during the step before its own
  bool locked = false;                    // the device reads by itself; else this thread copies too
  Seconds time = {};                      // per batch, alone

  /// The part of it that a step of this length does not hide.
  Seconds exposed_by(Seconds step) const {
    if (!uploads) return {};
    return overlapped && locked ? Seconds{std::max(0.0, time.value - step.value)} : time;
  }
  LoopStep with(LoopStep step) const {
    step.uploads = uploads.get();
    step.overlapped = overlapped;
    return step;
  }
};

/// By the job's parameter `transfer`; reports the time of a transfer.
Transfer make_transfer(State& state, const DataLoaderSetup& setup, const LoaderOptions& options) {
  Transfer transfer;
  const std::string wish = state.text("transfer");
  if (wish == "none") return transfer;
  transfer.overlapped = wish == "overlapped";
  Copies* copies = state.device().copies();
  if (copies == nullptr) {
    transfer.reason = "the device shares host memory: no transfer needed";
    return transfer;
  }
  SlotsWish one;
  one.bytes = options.batch_size * setup.pipeline->sample_bytes();
  one.locked = options.pin_memory;
  one.copies = copies;
  UploadsOffer offer = copies->uploads(one.bytes);
  transfer.uploads = std::move(offer.uploads);
  transfer.reason = offer.reason;
  if (!transfer.uploads) return transfer;
  const Slots batch(one);
  transfer.locked = options.pin_memory && batch.obstacle().empty();
  std::vector<double> seconds;
  const Conditions conditions = watched(state.device(), state.group(), Worker::threads, [&] {
    seconds = transfer_times(*transfer.uploads, batch.data(0));
  });
  transfer.time = {median(seconds)};
  state.under(conditions).values("transfer_time", seconds, loader_params(options));
  return transfer;
}

QueueSetup queue_of(const DataLoaderSetup& setup, const LoaderOptions& options, Seconds step,
                    Seconds exposed) {
  QueueSetup queue;
  queue.workers = options.num_workers;
  queue.prefetch_factor = options.prefetch_factor;
  queue.in_order = options.in_order;
  queue.shared_batches = options.dispatch == Dispatch::sample;
  queue.step_s = step.value;
  queue.exposed_s = exposed.value;
  queue.batches_per_step = setup.devices;
  return queue;
}

/// The time of a worker per batch: as measured; for a batch that all workers make together its
/// interval times the number of workers.
std::vector<double> batch_times(const MeasuredLoop& loop, const LoaderOptions& options) {
  const auto& intervals = loop.result.interval_s;
  if (options.dispatch != Dispatch::sample || options.num_workers == 0) return loop.result.made_s;
  std::vector<double> times = intervals;
  for (double& time : times) time *= options.num_workers;
  return times;
}

int needed(const DataLoaderSetup& setup, const MeasuredLoop& loop, std::uint64_t batch_size,
           double step_s) {
  const Effort& effort = loop.result.effort;
  return workers_needed(static_cast<double>(batch_size) * setup.devices / step_s,
                        effort.cpu_s / effort.samples);
}

/// The part of the stall that in-order delivery causes; nothing if batches do not wait for each
/// other.
std::optional<double> head_of_line(const std::vector<double>& times, QueueSetup queue) {
  if (!queue.in_order || queue.shared_batches || queue.workers < 2) return {};
  const double in_order = simulate_queue(times, queue).stall;
  queue.in_order = false;
  return std::max(0.0, in_order - simulate_queue(times, queue).stall);
}

Json write_forecast(const JudgedSeries& judged, const std::vector<double>& times,
                    const QueueSetup& queue, int workers, const Json& params) {
  const Forecast forecast = simulate_queue(times, queue);
  judged.value("predicted_stall", forecast.stall, params);
  judged.value("predicted_slow_down", forecast.slow_down, params);
  judged.value("workers_needed", workers, params);
  Json facts = {{"predicted_stall", forecast.stall},
                {"predicted_slow_down", forecast.slow_down},
                {"predicted_wait_p50_s", forecast.wait_p50_s},
                {"predicted_wait_p99_s", forecast.wait_p99_s},
                {"workers_needed", workers}};
  if (const auto share = head_of_line(times, queue)) {
    judged.value("head_of_line", *share, params);
    facts["head_of_line"] = *share;
  }
  return facts;
}

/// Compares the forecast with the measurement, if the host did not change in between.
void compare(State& state, const Conditions& conditions, double measured, const RatesAround& rates,
             const Json& params, Json& facts) {
  const JudgedSeries judged = state.under(conditions);
  const double predicted = facts.at("predicted_stall").get<double>();
  const StallComparison found = compare_stalls(predicted, measured, rates);
  judged.value("drift", rates.drift(), params);
  facts["stall"] = measured;
  facts["drift"] = rates.drift();
  facts["verdict"] = found.conclusive ? "comparable" : "inconclusive";
  if (found.conclusive) return judged.value("prediction_error", found.error, params);
  facts["reason"] = found.reason;
  state.skip_series("prediction_error", params, found.reason);
}

void refuse_wrong_batches(State& state, const MeasuredLoop& loop) {
  if (loop.wrong > 0)
    state.invalid(fmt::format(
        "{} bytes of the last batch differ from the single-threaded reference", loop.wrong));
  if (loop.damaged > 0)
    state.invalid(fmt::format("{} bytes of the last batch were corrupted on the way to the device",
                              loop.damaged));
}

/// Steps of one length, between two measurements of the loader without steps.
class StepForecast {
 public:
  StepForecast(State& state, const DataLoaderSetup& setup, const LoaderOptions& options,
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
    // Both measurements without steps give batch times.
    std::vector<double> times = batch_times(before, options_);
    const std::vector<double> later = batch_times(after, options_);
    times.insert(times.end(), later.begin(), later.end());
    const auto queue = queue_of(setup_, options_, length, transfer_.exposed_by(length));
    const Conditions around = all_of({before.conditions, after.conditions});
    Json own = write_forecast(state_.under(around), times, queue,
                              needed(setup_, before, options_.batch_size, length.value), params);
    own["step_s"] = step_s;
    own["length_s"] = length.value;
    write_waits(state_, loop, params);
    if (!transfer_.reason.empty()) state_.skip_series("exposed_transfer", params, transfer_.reason);
    refuse_wrong_batches(state_, loop);
    const RatesAround rates{before.samples_per_second(options_),
                            after.samples_per_second(options_)};
    const double batches = (rates.before + rates.after) / 2.0 / options_.batch_size;
    own["fluid_stall"] = fluid_stall(batches, queue);
    state_.under(around).value("fluid_stall", own["fluid_stall"].get<double>(), params);
    compare(state_, all_of({around, loop.conditions}), loop.result.stall(), rates, params, own);
    facts["steps"].push_back(own);
    before = std::move(after);
  }

 private:
  State& state_;
  const DataLoaderSetup& setup_;
  const LoaderOptions& options_;
  const Transfer& transfer_;
};

/// For another batch size, from the time per sample.
void write_preset(State& state, const DataLoaderSetup& setup, const LoaderOptions& options,
                  const StepPreset& preset, const MeasuredLoop& loop, Json& facts) {
  Json params = loader_params(options);
  params["preset"] = preset.name;
  params["batch_size"] = preset.batch_size;
  std::vector<double> times = batch_times(loop, options);
  const double factor =
      static_cast<double>(preset.batch_size) / static_cast<double>(options.batch_size);
  for (double& time : times) time *= factor;
  Json own = write_forecast(state.under(loop.conditions), times,
                            queue_of(setup, options, {preset.step_s}, {}),
                            needed(setup, loop, preset.batch_size, preset.step_s), params);
  const double use = 1.0 - own.at("predicted_stall").get<double>();
  own["preset"] = preset.name;
  own["use"] = use;
  own["least_use"] = preset.least_use;
  own["passes"] = use >= preset.least_use;
  facts["presets"].push_back(own);
}

}  // namespace

void write_forecasts(State& state, const DataLoaderSetup& setup, const LoaderOptions& options,
                     const MeasuredLoop& before, Json& facts) {
  facts["steps"] = Json::array();
  facts["presets"] = Json::array();
  for (const auto& name : state.list<std::string>("presets"))
    if (const StepPreset* preset = step_preset(name))
      write_preset(state, setup, options, *preset, before, facts);
  const auto steps = state.list<double>("steps");
  if (steps.empty()) return;
  const Transfer transfer = make_transfer(state, setup, options);
  const StepForecast forecast(state, setup, options, transfer);
  MeasuredLoop last = before;
  for (const double step : steps) forecast.write(step, last, facts);
}

}  // namespace bench::data

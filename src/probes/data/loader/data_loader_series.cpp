#include "probes/data/loader/data_loader_series.h"

#include <time.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "core/order_statistics.h"
#include "devices/copies.h"
#include "devices/host_clock.h"

namespace bench::data {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max() / 2;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Takes the batches of a step, the last one in `batch`, and counts them in `result` if given.
bool take_batches(Loader& loader, int count, std::optional<Batch>& batch, LoopResult* result) {
  bool ready = true;
  for (int i = 0; i < count; ++i) {
    batch = loader.next();
    ready = ready && batch->ready;
    if (result == nullptr) continue;
    result->made_s.push_back(batch->made_s);
    result->effort += batch->effort;
    ++result->batches;
  }
  return ready;
}

struct StepTimes {
  double step_s = 0.0, exposed_s = 0.0;
};

/// A step and the transfer of a batch to the device.
StepTimes do_step(const Step& step, const LoopOptions& options, const Batch& batch) {
  const double begun = steady_now().value;
  if (options.uploads != nullptr) options.uploads->start(batch.data);
  if (options.uploads != nullptr && !options.overlapped) options.uploads->finish();
  const double sent = steady_now().value;
  step();
  const double stepped = steady_now().value;
  if (options.uploads != nullptr && options.overlapped) options.uploads->finish();
  return {stepped - sent, sent - begun + steady_now().value - stepped};
}

}  // namespace

double LoopResult::batches_per_second() const { return static_cast<double>(batches) / wall_s; }
double LoopResult::stall() const { return sum(wait_s) / wall_s; }
double LoopResult::use() const { return static_cast<double>(steps()) * nominal_step_s / wall_s; }
double LoopResult::measured_use() const { return sum(step_s) / wall_s; }
double LoopResult::exposed() const { return sum(exposed_s) / wall_s; }
double LoopResult::readiness() const {
  return static_cast<double>(ready) / static_cast<double>(steps());
}

LoopResult run_loop(Loader& loader, const Step& step, const LoopOptions& options) {
  LoopResult result;
  result.nominal_step_s = options.step.value;
  std::optional<Batch> batch;
  const double begun = steady_now().value;
  loader.begin(options.first_epoch, kEndless);
  for (std::uint64_t i = 0; i < options.warm_up_steps; ++i) {
    take_batches(loader, options.batches_per_step, batch, nullptr);
    if (i == 0) result.first_batch_s = steady_now().value - begun;
    do_step(step, options, *batch);
  }
  const Seconds cpu = cpu_time_of(CLOCK_PROCESS_CPUTIME_ID);
  const double start = steady_now().value;
  double now = start;
  while (result.steps() < options.most_steps &&
         (now - start < options.least_time.value || result.steps() < options.least_steps)) {
    if (take_batches(loader, options.batches_per_step, batch, &result)) ++result.ready;
    const double have = steady_now().value;
    const StepTimes times = do_step(step, options, *batch);
    const double end = steady_now().value;
    result.wait_s.push_back(have - now);
    result.step_s.push_back(times.step_s);
    if (options.uploads != nullptr) result.exposed_s.push_back(times.exposed_s);
    result.interval_s.push_back(end - now);
    now = end;
  }
  result.wall_s = now - start;
  result.cpu_s = (cpu_time_of(CLOCK_PROCESS_CPUTIME_ID) - cpu).value;
  result.idle_s = loader.idle_s();
  if (options.last) options.last(*batch);
  loader.begin(0, 0);  // stops the workers
  return result;
}

std::uint64_t wrong_in_batch(const Pipeline& pipeline, const Loader& loader, const Batch& batch) {
  const auto worker = pipeline.worker();
  const auto places = loader.places(batch.number);
  std::vector<std::byte> bytes(batch.data.size());
  std::vector<std::int64_t> labels(batch.labels.size());
  std::vector<std::uint64_t> samples;
  for (const SamplePlace& place : places) samples.push_back(place.sample);
  Effort effort;
  StageClock clock;
  clock.begin(effort);
  worker->make(places.front().epoch, samples, {bytes, labels}, clock);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) wrong += bytes[i] != batch.data[i] ? 1 : 0;
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += labels[i] != batch.labels[i] ? 1 : 0;
  return wrong;
}

namespace {

constexpr std::size_t kParts = 10;

/// Until the queue is full, caches are warm and each worker has its memory.
std::uint64_t warm_up_steps(const LoaderOptions& options) {
  return 2 + static_cast<std::uint64_t>(options.num_workers * (options.prefetch_factor + 1));
}

void write_stages(const JudgedSeries& judged, const Effort& effort, const Json& params) {
  for (const auto& [stage, name] : kStages.entries) {
    const StageTime& time = effort.of(stage);
    if (time.wall_s <= 0.0) continue;
    Json own = params;
    own["stage"] = name;
    judged.value("stage_time", time.cpu_s / effort.samples, own);
    judged.value("stage_wall", time.wall_s / effort.samples, own);
  }
}

}  // namespace

MeasuredLoop measure_loop(const DataLoaderSetup& setup, const LoaderOptions& options,
                          const LoopStep& step, std::uint64_t most_steps) {
  Loader loader(*setup.pipeline, options);
  MeasuredLoop loop;
  loop.obstacle = loader.obstacle();
  LoopOptions ways;
  ways.step = step.length;
  ways.batches_per_step = step.length.value > 0.0 ? setup.devices : 1;
  ways.least_time = setup.time;
  ways.warm_up_steps = most_steps > 0 ? 0 : warm_up_steps(options);
  if (most_steps > 0) ways.most_steps = most_steps;
  ways.uploads = step.uploads;
  ways.overlapped = step.overlapped;
  ways.last = [&](const Batch& batch) {
    loop.wrong = wrong_in_batch(*setup.pipeline, loader, batch);
    if (step.uploads != nullptr) loop.damaged = step.uploads->wrong(batch.data);
  };
  State& state = *setup.state;
  loop.conditions = watched(state.device(), state.group(), Worker::threads,
                            [&] { loop.result = run_loop(loader, step.step, ways); });
  return loop;
}

Json loader_params(const LoaderOptions& options) {
  return {{"num_workers", options.num_workers}, {"batch_size", options.batch_size}};
}

std::vector<double> rates_of(const LoopResult& result, const LoaderOptions& options) {
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

void write_rates(State& state, const MeasuredLoop& loop, const LoaderOptions& options,
                 const Json& params) {
  const LoopResult& result = loop.result;
  const Effort& effort = result.effort;
  const JudgedSeries judged = state.under(loop.conditions);
  judged.values("samples_per_second", rates_of(result, options), params);
  const double rate = loop.samples_per_second(options);
  if (effort.bytes_read > 0.0)
    judged.value("read_rate", effort.bytes_read / effort.samples * rate, params);
  const Check check{"the last batch against a single-threaded reference",
                    static_cast<double>(loop.wrong), 0.0};
  judged.value("samples_per_cpu_second", effort.samples / result.cpu_s, params, {}, check);
  judged.value("of_stages", effort.stages_cpu_s() / result.cpu_s, params);
  write_stages(judged, effort, params);
  if (result.first_batch_s > 0.0) judged.value("first_batch", result.first_batch_s, params);
  if (options.num_workers > 0)
    judged.value("queue_wait", result.idle_s / static_cast<double>(result.batches), params);
}

void write_waits(State& state, const MeasuredLoop& loop, const Json& params) {
  const LoopResult& result = loop.result;
  const JudgedSeries judged = state.under(loop.conditions);
  judged.value("stall", result.stall(), params);
  judged.values("wait", result.wait_s, params);
  judged.value("wait_p99", quantile(result.wait_s, 0.99), params);
  judged.value("readiness", result.readiness(), params);
  judged.value("accelerator_use", result.use(), params);
  judged.value("oversleep", result.oversleep(), params);
  if (!result.exposed_s.empty()) judged.value("exposed_transfer", result.exposed(), params);
}

}  // namespace bench::data

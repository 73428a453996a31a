#include "probes/data/loader/loop.h"

#include <time.h>

#include <limits>
#include <numeric>
#include <optional>

#include "probes/device/copies.h"
#include "probes/host_clock.h"

namespace bench::data {
namespace {

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max() / 2;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// A step's batches; all are counted where `result` is wanted. `batch` is the last one.
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

/// A step, with the way of a batch to the device.
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
  loader.begin(0, 0);  // nothing more is made
  return result;
}

}  // namespace bench::data

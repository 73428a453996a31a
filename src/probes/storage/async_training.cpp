#include "probes/storage/async_training.h"

#include <limits>
#include <numeric>
#include <span>

#include "core/order_statistics.h"
#include "probes/host_clock.h"

namespace bench::storage {
namespace {

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Ranks wait for each other at a step's end, as they do in training.
double slowest_step(Group& group, EmulatedStep& step) {
  double seconds = step.run().value;
  group.max(std::span(&seconds, 1));
  return seconds;
}

}  // namespace

double AsyncTimes::inflation() const {
  if (quiet_steps.empty() || draining_steps.empty())
    return std::numeric_limits<double>::quiet_NaN();
  return median(draining_steps) / median(quiet_steps) - 1.0;
}

double AsyncTimes::overhead() const {
  if (quiet_steps.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double longer =
      sum_of(draining_steps) - static_cast<double>(draining_steps.size()) * median(quiet_steps);
  return (sum_of(stall) + longer) / total;
}

AsyncTimes train_and_save(Group& group, AsyncCheckpoint& checkpoint, EmulatedStep& step,
                          int checkpoints, int steps) {
  AsyncTimes times;
  for (int i = 0; i < steps; ++i) times.quiet_steps.push_back(slowest_step(group, step));
  const auto one_step = [&] {
    const bool writing = checkpoint.writing();
    const double seconds = slowest_step(group, step);
    const Seconds ended = steady_now();
    const auto drained = checkpoint.poll();
    if (drained) {
      times.drain.push_back(drained->value);
      times.stall.back() += (steady_now() - ended).value;
    }
    times.total += seconds + (steady_now() - ended).value;
    if (!writing)
      times.quiet_steps.push_back(seconds);
    else if (!drained)
      times.draining_steps.push_back(seconds);
  };
  for (int number = 0; number < checkpoints; ++number) {
    for (int i = 0; i < steps; ++i) one_step();
    const auto saved = checkpoint.save(number);
    times.stall.push_back(saved.stall.value);
    times.back_pressure.push_back(saved.back_pressure.value);
    if (saved.former) times.drain.push_back(saved.former->value);
    times.total += saved.stall.value;
  }
  while (checkpoint.writing()) one_step();
  return times;
}

}  // namespace bench::storage

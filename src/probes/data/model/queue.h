// What a training would wait for data, foretold: batches of measured lengths go through workers, a
// queue that holds so many, and a consumer that takes one and does a step. Nothing but times is
// simulated.
#pragma once

#include <cstdint>
#include <vector>

namespace bench::data {

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

}  // namespace bench::data

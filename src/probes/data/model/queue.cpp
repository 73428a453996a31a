#include "probes/data/model/queue.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "core/error.h"
#include "core/order_statistics.h"
#include "probes/training/sources/random.h"

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

  /// When the next batch is there, for one who asks at `now`.
  double take(double now) {
    if (setup_.workers == 0) return now + length();
    while (begun_ < taken_.size() + ahead_) start_next();
    // In order the oldest; else the one that is ready first.
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

  /// Batch b may begin once b - ahead_ + 1 were taken.
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
  std::vector<double> taken_;    // when, by batch
  std::vector<double> waiting_;  // when each is ready that was not taken
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

}  // namespace bench::data

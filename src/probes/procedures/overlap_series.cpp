#include "probes/procedures/overlap_series.h"

#include "core/order_statistics.h"

namespace bench {
namespace {

std::function<void()> once(const Sides& sides, const Active& active) {
  std::function<void()> communicate, compute;
  if (active.communication) communicate = [&] { sides.exchange.run(sides.calls.communications); };
  if (active.computation) compute = [&] { sides.load.work(sides.calls.computations); };
  return [&, communicate, compute] { sides.overlap.together(communicate, compute); };
}

Check verify(const Sides& sides, const Active& active) {
  double wrong = 0.0;
  if (active.communication) wrong += sides.exchange.wrong();
  if (active.computation && !sides.load.verify().passed()) wrong += 1.0;
  return {"exact sums, and bitwise equality with the first GEMM", wrong, 0.0};
}

}  // namespace

double estimate(State& state, const Sides& sides, const Active& active) {
  constexpr int kWarmUps = 10;
  const std::function<void()> work = once(sides, active);
  state.device().untimed(work);
  std::vector<double> seconds;
  for (int i = 0; i < 2 * kWarmUps; ++i) {
    const double took = state.device().timed(work, 1, [&] { state.group().barrier(); }).value;
    if (i >= kWarmUps) seconds.push_back(took);
  }
  state.group().max(seconds);
  return median(seconds);
}

double OverlapSeries::measure(const Active& active) {
  const std::function<void()> work = once(sides_, active);
  Measurement m;
  m.params = params_;
  m.params["active"] = active.name;
  m.work = [&](std::int64_t calls) {
    for (; calls > 0; --calls) work();
  };
  const auto bytes = static_cast<double>(sides_.exchange.size_bytes());
  const auto communications = static_cast<double>(sides_.calls.communications);
  const auto computations = static_cast<double>(sides_.calls.computations);
  if (active.communication) m.reports.push_back({"communication_rate", communications * bytes});
  if (active.computation) m.reports.push_back({"gemm_rate", computations * sides_.load.amount});
  m.before_sample = [&] { note_parts(); };
  m.verify = [&] { return verify(sides_, active); };
  m.calls = 1;
  parts_.clear();
  return state_.measure(m).median.value;
}

double OverlapSeries::median_part(Seconds Overlap::Parts::*side) {
  std::vector<double> seconds;
  for (const Overlap::Parts& parts : parts_) seconds.push_back((parts.*side).value);
  state_.group().max(seconds);
  return seconds.empty() ? 0.0 : median(seconds);
}

/// Those of the call before; a series that did only one side left no time for the other.
void OverlapSeries::note_parts() {
  const Overlap::Parts parts = sides_.overlap.last_parts();
  if (parts.communication.value > 0.0 && parts.computation.value > 0.0) parts_.push_back(parts);
}

}  // namespace bench

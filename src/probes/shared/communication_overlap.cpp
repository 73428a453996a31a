#include "probes/shared/communication_overlap.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/order_statistics.h"
#include "devices/collectives.h"
#include "probes/shared/collective_exchange.h"
#include "probes/shared/collective_join.h"
#include "probes/shared/device_load.h"
#include "probes/state.h"

namespace bench {
namespace {

/// The two sides on this rank.
struct Sides {
  Overlap& overlap;
  Exchange& exchange;
  const DeviceLoad& load;
  OverlapCalls calls;
};

/// The active sides of a series.
struct Active {
  std::string name;
  bool communication;
  bool computation;
};

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

/// Seconds of the slowest rank after some calls: the first calls of a collective meet cold memory
/// and connections, and took fifteen times as long in a test.
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

class OverlapSeries {
 public:
  /// `params` distinguish it; the active sides are added to them.
  OverlapSeries(State& state, const Sides& sides, Json params)
      : state_(state), sides_(sides), params_(std::move(params)) {}

  /// The median time of a series, in seconds.
  double measure(const Active& active) {
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
    const Measured measured = state_.measure(m);
    conditions_ = all_of({conditions_, measured.conditions});
    return measured.median.value;
  }

  /// Of all series so far.
  const Conditions& conditions() const { return conditions_; }

  /// Of the last series: how long one side took while the other ran, of the slowest rank; 0 if only
  /// one ran.
  double median_part(Seconds Overlap::Parts::*side) {
    std::vector<double> seconds;
    for (const Overlap::Parts& parts : parts_) seconds.push_back((parts.*side).value);
    state_.group().max(seconds);
    return seconds.empty() ? 0.0 : median(seconds);
  }

 private:
  /// Notes the parts of the previous call; a series with one side has no time for the other.
  void note_parts() {
    const Overlap::Parts parts = sides_.overlap.last_parts();
    if (parts.communication.value > 0.0 && parts.computation.value > 0.0) parts_.push_back(parts);
  }

  State& state_;
  const Sides& sides_;
  Json params_;
  std::vector<Overlap::Parts> parts_;
  Conditions conditions_;
};

// A GPU queue holds about a thousand entries, and all calls of a sample are enqueued before any
// runs: an NCCL operation takes three entries, a wait, a kernel and an event.
constexpr double kMostCalls = 128.0;

/// A load that is created and destroyed on the thread that runs it.
class OverlappedLoad {
 public:
  OverlappedLoad(State& state, Overlap& overlap) : overlap_(overlap) {
    overlap_.run_computation([&] { offer_ = named_load(state, "gemm"); });
  }
  ~OverlappedLoad() {
    overlap_.run_computation([&] { offer_.load.reset(); });
  }
  OverlappedLoad(const OverlappedLoad&) = delete;
  OverlappedLoad& operator=(const OverlappedLoad&) = delete;
  const LoadOffer& offer() const { return offer_; }

 private:
  Overlap& overlap_;
  LoadOffer offer_;
};

void report(State& state, OverlapSeries& series, const OverlapSeconds& seconds, const Sides& sides,
            const Json& params) {
  const double communicating = series.median_part(&Overlap::Parts::communication);
  const double computing = series.median_part(&Overlap::Parts::computation);
  const double hidden = overlap_ratio(seconds);
  state.facts("overlap", {{"params", params},
                          {"communications", sides.calls.communications},
                          {"computations", sides.calls.computations},
                          {"communication_s", seconds.communication},
                          {"computation_s", seconds.computation},
                          {"both_s", seconds.both},
                          {"hidden_before_clamp", hidden}});
  if (!(seconds.both > 0.0) || !std::isfinite(hidden)) return;
  const JudgedSeries derived = state.under(series.conditions());
  derived.value("overlap_ratio", std::clamp(hidden, 0.0, 1.0), params);
  const auto slowdown = [&](const char* of, double together, double alone) {
    Json with = params;
    with["of"] = of;
    if (together > 0.0) derived.value("slowdown", together / alone, with);
  };
  slowdown("communication", communicating, seconds.communication);
  slowdown("computation", computing, seconds.computation);
}

void measure_sides(State& state, Overlap& overlap, Exchange& exchange, const DeviceLoad& load) {
  const Active communication{"communication", true, false};
  const Active computation{"computation", false, true};
  Sides sides{overlap, exchange, load, {}};
  const double communicating = estimate(state, sides, communication);
  const double computing = estimate(state, sides, computation);
  sides.calls = balance(communicating, computing, state.job().measure.min_sample_s);
  const Json params = {{"op", state.text("op")},
                       {"message_bytes", exchange.size_bytes()},
                       {"message_dtype", state.text("message_dtype")},
                       {"dtype", state.text("dtype")}};
  OverlapSeries series(state, sides, params);
  OverlapSeconds seconds;
  seconds.communication = series.measure(communication);
  seconds.computation = series.measure(computation);
  seconds.both = series.measure({"both", true, true});
  report(state, series, seconds, sides, params);
}

std::string obstacle(Group& group, Collectives* collectives, CollectiveOp op, Dtype dtype) {
  if (collectives == nullptr) return no_collectives(group);
  if (collectives->overlap() == nullptr) return "this MPI library does not support a second thread";
  if (!Exchange::exact(dtype, group.size())) return "sums over this many ranks are not exact";
  return std::string(collectives->obstacle(op, dtype, false));
}

}  // namespace

OverlapCalls balance(double communication_s, double computation_s, double least_s) {
  const double both = std::max({communication_s, computation_s, least_s});
  const auto calls = [&](double one) {
    return one > 0.0
               ? static_cast<std::int64_t>(std::clamp(std::round(both / one), 1.0, kMostCalls))
               : std::int64_t{1};
  };
  return {calls(communication_s), calls(computation_s)};
}

double overlap_ratio(const OverlapSeconds& seconds) {
  return (seconds.communication + seconds.computation - seconds.both) /
         std::min(seconds.communication, seconds.computation);
}

void measure_overlap(State& state) {
  Group& group = state.group();
  Collectives* collectives = state.device().collectives(group);
  const CollectiveOp op = collective_op_from(state.text("op"));
  const Dtype dtype = dtype_from(state.text("message_dtype"));
  const Json params = {{"active", "both"}};
  if (const auto reason = agreed(group, obstacle(group, collectives, op, dtype)); !reason.empty())
    return state.skip_series("overlap_ratio", params, reason);
  if (collectives->connections() == 0) collectives->connect({});
  const auto bytes = static_cast<std::size_t>(state.integer("message_bytes"));
  const OverlappedLoad load(state, *collectives->overlap());
  const LoadOffer& offer = load.offer();
  if (const auto reason = agreed(group, offer.load ? "" : offer.reason); !reason.empty())
    return state.skip_series("overlap_ratio", params, reason);
  const auto send = collectives->allocate(Exchange::buffer_bytes(*collectives, bytes, 0));
  const auto recv = collectives->allocate(Exchange::buffer_bytes(*collectives, bytes, 0));
  Exchange exchange(
      {.op = op, .dtype = dtype, .size_bytes = bytes, .rotate = true, .seed = state.job().seed},
      group, *collectives, {*send, *recv, 0});
  measure_sides(state, *collectives->overlap(), exchange, *offer.load);
}

}  // namespace bench

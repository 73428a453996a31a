#include "results/verdicts/profile/trace_breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "core/units.h"

namespace bench {
namespace {

struct Interval {
  double begin = 0.0, end = 0.0;
};
/// Ascending and disjoint.
using Intervals = std::vector<Interval>;

double length_of(const Intervals& intervals) {
  double sum = 0.0;
  for (const Interval& one : intervals) sum += one.end - one.begin;
  return sum;
}

Intervals united(Intervals intervals) {
  std::ranges::sort(intervals, {}, &Interval::begin);
  Intervals all;
  for (const Interval& one : intervals) {
    if (all.empty() || one.begin > all.back().end)
      all.push_back(one);
    else
      all.back().end = std::max(all.back().end, one.end);
  }
  return all;
}

Intervals together(const Intervals& a, const Intervals& b) {
  Intervals all = a;
  all.insert(all.end(), b.begin(), b.end());
  return united(std::move(all));
}

Intervals intervals_of(const std::vector<DeviceWork>& work, DeviceWorkKind kind) {
  Intervals all;
  for (const DeviceWork& one : work)
    if (one.kind == kind) all.push_back({one.begin, one.end});
  return united(std::move(all));
}

double at(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return kNoValue;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1) + 0.5)];
}

/// The device has nothing to do from the end of one interval to the begin of the next.
void divide_idle_time(const DeviceTrace& trace, const std::vector<DeviceWork>& work,
                      TraceBreakdown& to) {
  double busy_until = work.front().begin;
  for (const DeviceWork& next : work) {  // by begin
    if (next.begin > busy_until) {
      const double gap = next.begin - busy_until;
      const auto call = trace.calls.find(next.correlation);
      if (call == trace.calls.end()) {
        to.idle_unknown += gap;
      } else if (call->second.begin < busy_until) {
        to.idle_queued += gap;
      } else {
        const double launched = std::min(call->second.end, next.begin);
        to.idle_host += launched - busy_until;
        to.idle_launch += next.begin - launched;
      }
    }
    busy_until = std::max(busy_until, next.end);
  }
}

void measure_launches(const DeviceTrace& trace, const std::vector<DeviceWork>& work,
                      TraceBreakdown& to) {
  std::map<std::int64_t, double> busy_until;  // by stream
  std::vector<double> delays;
  for (const DeviceWork& one : work) {
    const auto call = trace.calls.find(one.correlation);
    const auto busy = busy_until.find(one.stream);
    if (call != trace.calls.end() && one.begin >= call->second.end &&
        (busy == busy_until.end() || busy->second <= call->second.begin))
      delays.push_back(one.begin - call->second.end);
    double& until = busy_until[one.stream];
    until = std::max(until, one.end);
  }
  std::ranges::sort(delays);
  to.launch_median = at(delays, 0.5);
  to.launch_p95 = at(delays, 0.95);
}

/// Sums of equal names, most time first.
class Rows {
 public:
  explicit Rows(const std::vector<std::string>& names) : names_(names) {}

  void add(int name, DeviceWorkKind kind, double seconds) {
    TraceRow& row = rows_[name];
    row.kind = kind;
    ++row.calls;
    row.seconds += seconds;
    row.longest = std::max(row.longest, seconds);
  }
  std::vector<TraceRow> sorted() {
    std::vector<TraceRow> all;
    for (auto& [name, row] : rows_) {
      row.name = names_[static_cast<std::size_t>(name)];
      all.push_back(row);
    }
    std::ranges::stable_sort(all, std::greater<>(), &TraceRow::seconds);
    return all;
  }

 private:
  const std::vector<std::string>& names_;
  std::map<int, TraceRow> rows_ = {};
};

/// An operation's own time is what operations inside it do not take.
std::vector<TraceRow> rows_of_operations(const DeviceTrace& trace) {
  std::map<std::int64_t, std::vector<const HostOperation*>> threads;
  for (const HostOperation& one : trace.operations) threads[one.thread].push_back(&one);
  Rows rows(trace.names);
  struct Open {
    const HostOperation* operation;
    double inside = 0.0;
  };
  for (auto& [thread, operations] : threads) {
    std::ranges::sort(operations, {},
                      [](const HostOperation* one) { return std::pair(one->begin, -one->end); });
    std::vector<Open> open;
    const auto close = [&] {
      const Open last = open.back();
      open.pop_back();
      const double whole = last.operation->end - last.operation->begin;
      rows.add(last.operation->name, DeviceWorkKind::compute, std::max(0.0, whole - last.inside));
      if (!open.empty()) open.back().inside += whole;
    };
    for (const HostOperation* one : operations) {
      while (!open.empty() && open.back().operation->end <= one->begin) close();
      open.push_back({one});
    }
    while (!open.empty()) close();
  }
  return rows.sorted();
}

/// Seconds of disjoint intervals before points in time.
class Covered {
 public:
  explicit Covered(Intervals intervals) : intervals_(std::move(intervals)) {
    double sum = 0.0;
    for (const Interval& one : intervals_) {
      before_.push_back(sum);
      sum += one.end - one.begin;
    }
  }
  double until(double time) const {
    const auto next = std::ranges::upper_bound(intervals_, time, {}, &Interval::begin);
    if (next == intervals_.begin()) return 0.0;
    const auto last = static_cast<std::size_t>(next - intervals_.begin()) - 1;
    return before_[last] + std::min(time, intervals_[last].end) - intervals_[last].begin;
  }

 private:
  Intervals intervals_;
  std::vector<double> before_ = {};
};

void add_steps(const DeviceTrace& trace, TraceBreakdown& to) {
  Intervals loading;
  for (const HostOperation& load : trace.loading) loading.push_back({load.begin, load.end});
  const Covered covered(united(std::move(loading)));
  std::vector<double> seconds;
  double all = 0.0, waits = 0.0;
  for (const TraceStep& step : trace.steps) {
    seconds.push_back(step.end - step.begin);
    all += step.end - step.begin;
    waits += covered.until(step.end) - covered.until(step.begin);
  }
  std::ranges::sort(seconds);
  to.steps = seconds.size();
  to.step_median = at(seconds, 0.5);
  if (all > 0.0) to.loading = waits / all;
}

TraceBreakdown breakdown_of(const DeviceTrace& trace, int device, std::vector<DeviceWork> work) {
  TraceBreakdown to{trace.file, trace.rank, device};
  std::ranges::stable_sort(work, {}, &DeviceWork::begin);
  const Intervals compute = intervals_of(work, DeviceWorkKind::compute);
  const Intervals communication = intervals_of(work, DeviceWorkKind::communication);
  const Intervals kernels = together(compute, communication);
  const Intervals busy = together(kernels, intervals_of(work, DeviceWorkKind::memory));
  to.span = busy.back().end - busy.front().begin;
  to.compute = length_of(compute);
  to.communication = length_of(communication);
  to.exposed_communication = std::max(0.0, length_of(kernels) - to.compute);
  to.exposed_copies = std::max(0.0, length_of(busy) - length_of(kernels));
  divide_idle_time(trace, work, to);
  measure_launches(trace, work, to);
  Rows rows(trace.names);
  for (const DeviceWork& one : work) rows.add(one.name, one.kind, one.end - one.begin);
  to.kernels = rows.sorted();
  return to;
}

}  // namespace

std::vector<TraceBreakdown> breakdowns_of(const DeviceTrace& trace) {
  std::map<int, std::vector<DeviceWork>> devices;
  for (const DeviceWork& one : trace.work) devices[one.device].push_back(one);
  std::vector<TraceBreakdown> all;
  for (auto& [device, work] : devices) all.push_back(breakdown_of(trace, device, std::move(work)));
  if (all.empty() && !trace.operations.empty()) all.push_back({trace.file, trace.rank});
  for (TraceBreakdown& one : all) one.only_device = all.size() == 1;
  if (all.empty()) return all;
  add_steps(trace, all.front());
  all.front().operations = rows_of_operations(trace);
  return all;
}

std::string name_of(const TraceBreakdown& breakdown) {
  const std::string process =
      breakdown.rank ? fmt::format("rank {}", *breakdown.rank) : breakdown.file;
  return breakdown.only_device || breakdown.device < 0
             ? process
             : fmt::format("{}, device {}", process, breakdown.device);
}

namespace {

// What a trace shows, if it takes at least this share.
constexpr double kLaunchBound = 0.10;
constexpr double kExposedCommunication = 0.10;
constexpr double kExposedCopies = 0.05;
constexpr double kLoading = 0.05;
constexpr double kStraggler = 0.05;  // compute time above the median rank's

void find_in_device(const TraceBreakdown& one, std::vector<TraceFinding>& findings) {
  const auto add = [&](const char* cause, double share, double least, const std::string& text) {
    if (share >= least)
      findings.push_back(
          {cause, fmt::format("{}: {}: {:.1f} %", name_of(one), text, 100.0 * share), share});
  };
  add("launch_bound", one.idle_host / one.span, kLaunchBound,
      "the GPU is idle because the host has not launched its next work yet");
  add("exposed_communication", one.exposed_communication / one.span, kExposedCommunication,
      "communication that no computation hides");
  add("exposed_copies", one.exposed_copies / one.span, kExposedCopies,
      "copies and fills that no kernel hides");
  add("input", one.loading, kLoading, "steps wait for the data loader");
}

void find_stragglers(const std::vector<TraceBreakdown>& all, std::vector<TraceFinding>& findings) {
  std::vector<double> compute;
  for (const TraceBreakdown& one : all)
    if (one.device >= 0 && one.compute > 0.0) compute.push_back(one.compute);
  if (compute.size() < 2) return;
  std::ranges::sort(compute);
  const double median = compute[(compute.size() - 1) / 2];
  for (const TraceBreakdown& one : all) {
    const double above = one.device < 0 ? 0.0 : one.compute / median - 1.0;  // median > 0
    if (above >= kStraggler)
      findings.push_back({"straggler",
                          fmt::format("{} computes {:.1f} % longer than the median of {}: others "
                                      "wait for it wherever they communicate",
                                      name_of(one), 100.0 * above, compute.size()),
                          above});
  }
}

}  // namespace

std::vector<TraceFinding> findings_of(const std::vector<TraceBreakdown>& all) {
  std::vector<TraceFinding> findings;
  for (const TraceBreakdown& one : all)
    if (one.span > 0.0 || one.loading > 0.0) find_in_device(one, findings);
  find_stragglers(all, findings);
  std::ranges::stable_sort(findings, std::greater<>(), &TraceFinding::share);
  return findings;
}

}  // namespace bench

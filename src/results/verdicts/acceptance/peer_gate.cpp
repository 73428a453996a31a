#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/hostlist.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"
#include "results/verdicts/peers/compared.h"

namespace bench {
namespace {

/// The median of the other hosts: among few, a bad host that counted itself would hide part of its
/// loss.
double of_others(std::vector<double> others, std::size_t i) {
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
  return others.empty() ? kNoValue : median(others);
}

Reason reason_of_peers(const Compared& field, std::size_t i, Verdict verdict,
                       const std::string& gate) {
  Reason reason = reason_of(*field.metric, verdict, gate);
  reason.value = field.centres[i];
  reason.expected = of_others(field.centres, i);
  reason.job = field.metric->by_hosts.at({field.hosts[i]}).front().job;
  return reason;
}

std::string against(const Compared& field, const HostMetric& row) {
  const auto& metric = *field.metric;
  return fmt::format("{}: {}, {} than the median of {} peers ({}; z {:.1f})", metric.title(),
                     format(row.value, metric.unit), loss_text(row.loss), field.hosts.size() - 1,
                     format(row.expected, metric.unit), row.z);
}

/// One metric over all hosts.
struct Field {
  const Compared& compared;
  std::vector<double> half = {};  // of the 95 % interval of each host's loss
  std::vector<double> best = {};  // runs of each host
  double reached = kNoValue;      // loss that the scatter of runs and hosts lets be seen
  Hosts disturbed = {};           // with too few usable runs because of other work
  bool mostly_disturbed = false;
  Hosts open = {};             // left open by what scatters or disturbs them
  double excluded = kNoValue;  // the loss that is excluded on all of these
  double runs = kNoValue;      // clean runs a host that would settle them
};

constexpr double kMostAdvisedRuns = 50;

std::string advice(double runs) {
  if (runs <= kMostAdvisedRuns)
    return fmt::format("allow about {:.0f} clean runs (--max-runs, --budget)", runs);
  return "stop other work on the hosts, or test fewer at a time (--parallel)";
}

/// Clean runs until an interval with this half-width is narrower than `room`.
double runs_until(double runs, double half, double room) {
  return std::ceil(runs * half * half / (room * room));
}

/// Clean runs until the host passes, if its loss stays as it is; infinite at the limit.
double runs_that_settle(const HostMetric& row) {
  const double room = row.resolution - row.loss;
  return room > 0.0 ? runs_until(static_cast<double>(row.runs), kOneSided * row.half, room)
                    : std::numeric_limits<double>::infinity();
}

std::string next_step(const HostMetric& row) {
  const double runs = runs_that_settle(row);
  return std::isfinite(runs) ? advice(runs)
                             : "run again; if the loss stays at the limit, decide by hand";
}

/// The best runs of each host. What slows a host all the time slows them too; other work comes and
/// goes, also where no sample shows it.
std::vector<double> best_runs(const Compared& field) {
  constexpr double kBest = 0.9;  // of few runs almost the best, of many not a single lucky one
  const double at = field.metric->better == Better::higher ? kBest : 1.0 - kBest;
  std::vector<double> best;
  for (const auto& runs : field.runs) best.push_back(quantile(runs, at));
  return best;
}

/// Whether the host's runs vary as those of its peers do, and the best of them are as good: within
/// half of `allowed`. A host that begins well and slows down varies more than its peers.
bool met_slow_minutes(const Field& whole, std::size_t i, double allowed) {
  const Moderated& noise = whole.compared.noise;
  return noise.of_host[i] <= kAsNoisy * noise.fleet &&
         loss(whole.best[i], of_others(whole.best, i), whole.compared.metric->better) <=
             kAsGood * allowed;
}

/// Whether noise alone keeps the host from passing: that of all, or that of its runs.
bool noise_hides(const Field& whole, std::size_t i, const HostMetric& row) {
  return is_noise(row.loss, row.half, row.resolution, whole.reached) ||
         met_slow_minutes(whole, i, row.resolution);
}

/// Passes once the upper end of the interval of the loss lies below the resolution.
void judge_interval(const GateContext& context, const Field& whole, std::size_t i,
                    HostMetric& row) {
  const Compared& field = whole.compared;
  row.verdict = Verdict::pass;
  if (row.loss_at_most() <= row.resolution) return;
  row.verdict = Verdict::inconclusive;
  row.unresolved = noise_hides(whole, i, row);
  if (row.unresolved) return;
  Reason reason = reason_of_peers(field, i, row.verdict, "peers");
  if (row.loss - kOneSided * row.half > row.resolution) {
    reason.text = against(field, row) +
                  fmt::format(", but {} hosts with this much spread are too few to be certain",
                              field.hosts.size());
    reason.next_step = "add hosts of this kind, or set a bound in the suite (gates)";
  } else {
    reason.text = against(field, row) +
                  fmt::format("; a loss of up to {} is not excluded, {} must be",
                              share_text(row.loss_at_most()), share_text(row.resolution));
    reason.next_step = next_step(row);
    reason.more_runs = true;
  }
  context.add_reason(field.hosts[i], std::move(reason));
}

void judge_scatter(const GateContext& context, const Compared& field, std::size_t i,
                   HostMetric& row) {
  const double own = field.noise.of_host[i];
  if (field.scatter_chance[i] > kRepeatabilityShare * context.settings.level ||
      own < row.resolution)
    return;
  row.verdict = Verdict::fail;
  Reason reason = reason_of_peers(field, i, Verdict::fail, "repeatability");
  reason.value = own;
  reason.expected = field.noise.fleet;
  reason.unit = Unit::ratio;
  reason.text = fmt::format("{}: run-to-run variation {}, peers {}", field.metric->title(),
                            share_text(own), share_text(field.noise.fleet));
  context.add_reason(field.hosts[i], std::move(reason));
}

/// Of the loss: from the scatter of the host's runs and that of its peers, whose median it is
/// compared with.
std::vector<double> half_widths(const Compared& field) {
  constexpr double kTwoSided95 = 2.0;
  const double peers = static_cast<double>(std::max<std::size_t>(2, field.hosts.size()) - 1);
  const double of_peers = kTwoSided95 * kMedianOverMean * field.scores.sigma /
                          (std::abs(field.scores.median) * std::sqrt(peers));
  std::vector<double> halves;
  for (const double own : field.noise.half) halves.push_back(std::hypot(own, of_peers));
  return halves;
}

HostMetric row_of_peers(const Field& whole, std::size_t i) {
  const Compared& field = whole.compared;
  const MetricRuns& metric = *field.metric;
  HostMetric row{metric.case_name, metric.metric, metric.params, metric.unit, field.runs[i].size()};
  row.value = field.centres[i];
  row.expected = of_others(field.centres, i);
  row.loss = loss(row.value, row.expected, metric.better);
  row.half = whole.half[i];
  row.threshold = metric.threshold;
  row.resolution = metric.resolution;
  row.z = field.scores.z[i];
  for (const Observation& seen : metric.by_hosts.at({field.hosts[i]})) {
    if (!seen.usable || !seen.limit) continue;
    row.limit = seen.limit->value;
    row.of_limit = of_limit(row.value, metric.better, seen.limit);
  }
  return row;
}

/// Hosts with too few peers, each with the metrics that only a bound of the suite could pass.
using Alone = std::map<std::string, std::vector<const Compared*>>;

/// False if nothing passes the metric.
bool judge_alone(const GateContext& context, const Field& whole, std::size_t i, HostMetric& row) {
  row.expected = row.loss = row.half = row.z = kNoValue;
  const std::string key = bound_key(whole.compared.hosts[i], row.case_name, row.metric);
  const bool bounded = context.bounded.contains(key);
  row.verdict = bounded ? Verdict::pass : Verdict::inconclusive;
  row.unresolved = !bounded && whole.mostly_disturbed;
  return bounded || row.unresolved;
}

/// Said once, not by metric.
void add_alone(const GateContext& context, const std::string& host,
               const std::vector<const Compared*>& fields) {
  std::size_t most = 0;
  std::vector<std::string> metrics;
  for (const Compared* field : fields) {
    most = std::max(most, field->hosts.size());
    if (std::ranges::find(metrics, field->metric->metric) == metrics.end())
      metrics.push_back(field->metric->metric);
  }
  Reason reason = reason_of(*fields.front()->metric, Verdict::inconclusive, "peers");
  reason.text = fmt::format("{}: {} comparable host{}, peer comparison needs {}",
                            join(metrics, ", "), most, most == 1 ? "" : "s", kFewestPeers);
  reason.next_step = fmt::format(
      "test at least {} hosts of one kind, compare with reference results (--golden), "
      "or set bounds in the suite (gates)",
      kFewestPeers);
  context.add_reason(host, std::move(reason));
}

void judge_host(const GateContext& context, Field& whole, std::size_t i, Alone& alone) {
  const Compared& field = whole.compared;
  HostMetric row = row_of_peers(whole, i);
  const bool failing = row.loss > row.threshold &&
                       stands_out(field.scores, i, row.loss, field.chance[i],
                                  kPeersShare * context.settings.level) &&
                       !met_slow_minutes(whole, i, row.threshold);
  if (field.hosts.size() < kFewestPeers) {
    if (!judge_alone(context, whole, i, row)) alone[field.hosts[i]].push_back(&field);
  } else if (failing) {
    row.verdict = Verdict::fail;
    Reason reason = reason_of_peers(field, i, row.verdict, "peers");
    reason.text = against(field, row) + fmt::format("; allowed: {}", share_text(row.threshold));
    context.add_reason(field.hosts[i], std::move(reason));
  } else if (row.runs >= context.settings.fewest_runs) {
    judge_interval(context, whole, i, row);
    if (!field.scatter.z.empty()) judge_scatter(context, field, i, row);
  } else {
    row.unresolved = whole.mostly_disturbed;
  }
  if (row.unresolved) {
    whole.open.push_back(field.hosts[i]);
    whole.excluded = std::fmax(whole.excluded, row.loss_at_most());
    whole.runs = std::fmax(whole.runs, runs_that_settle(row));
  }
  context.host(field.hosts[i])->metrics.push_back(std::move(row));
}

/// A host with too few usable runs of a metric cannot pass it.
void judge_coverage(const GateContext& context, Field& whole, const std::string& host) {
  if (!whole.mostly_disturbed || !contains(whole.disturbed, host)) {
    if (auto reason = too_few_runs(*whole.compared.metric, {host}, context.settings.fewest_runs))
      context.add_reason(host, std::move(*reason));
  } else if (!contains(whole.open, host)) {
    whole.open.push_back(host);
  }
}

/// Hosts that measured the metric, but too seldom without being disturbed by other work.
Hosts disturbed_hosts(const MetricRuns& metric, const AcceptanceSettings& settings) {
  Hosts hosts;
  for (const std::string& host : settings.hosts) {
    const auto runs = metric.by_hosts.find({host});
    if (runs != metric.by_hosts.end() && metric.values({host}).size() < settings.fewest_runs &&
        std::ranges::any_of(runs->second, &Observation::rough))
      hosts.push_back(host);
  }
  return hosts;
}

std::string last_disturbance(const std::vector<Observation>& runs) {
  std::string why;
  for (const Observation& seen : runs)
    if (seen.rough) why = seen.why;
  return why;
}

void add_unresolved(const GateContext& context, const Field& whole) {
  if (whole.open.empty()) return;
  const MetricRuns& metric = *whole.compared.metric;
  Unresolved one = unresolved_of(metric, whole.open);
  if (whole.mostly_disturbed) {
    one.text = fmt::format("{}: fewer than {} clean runs on {} of {} hosts, in the last one {}",
                           metric.title(), context.settings.fewest_runs, whole.disturbed.size(),
                           context.settings.hosts.size(),
                           last_disturbance(metric.by_hosts.at({whole.disturbed.back()})));
    one.runs = static_cast<double>(context.settings.fewest_runs);
    one.next_step = advice(std::numeric_limits<double>::infinity());
  } else {
    std::vector<double> counts;
    for (const auto& values : whole.compared.runs)
      counts.push_back(static_cast<double>(values.size()));
    const bool of_all = whole.reached > metric.resolution;
    one.reached = of_all ? whole.reached : whole.excluded;
    one.runs = of_all ? runs_until(median(counts), one.reached, metric.resolution) : whole.runs;
    one.text =
        of_all ? fmt::format(
                     "{}: repeats and hosts differ so much here that losses below {} cannot be "
                     "seen; {} should be",
                     metric.title(), share_text(one.reached), share_text(one.promised))
               : fmt::format(
                     "{}: repeats differ so much on {} that a loss of up to {} is not excluded; "
                     "{} should be",
                     metric.title(), compact_hostlist(one.hosts), share_text(one.reached),
                     share_text(one.promised));
    one.next_step = advice(one.runs);
  }
  context.acceptance.unresolved.push_back(std::move(one));
}

bool by_single_hosts(const MetricRuns& metric) {
  return std::ranges::any_of(metric.by_hosts, [](const auto& entry) {
    return entry.first.size() == 1 &&
           std::ranges::any_of(entry.second, [](const Observation& seen) {
             return seen.outcome != Status::skipped;
           });
  });
}

void judge_field(const GateContext& context, const Compared& field, Alone& alone) {
  Field whole{field, half_widths(field), best_runs(field)};
  whole.reached = visible_loss(field, field.metric->resolution);
  whole.disturbed = disturbed_hosts(*field.metric, context.settings);
  whole.mostly_disturbed = context.settings.hosts.size() >= kFewestPeers &&
                           2 * whole.disturbed.size() >= context.settings.hosts.size();
  for (std::size_t i = 0; i < field.hosts.size(); ++i) judge_host(context, whole, i, alone);
  for (const std::string& host : context.settings.hosts) judge_coverage(context, whole, host);
  add_unresolved(context, whole);
}

}  // namespace

void judge_peers(GateContext& context) {
  std::vector<Compared> fields;
  for (const MetricRuns& metric : context.metrics)
    if (by_single_hosts(metric)) fields.push_back(compared(metric, context.settings.hosts));
  find_chances(fields);
  Alone alone;
  for (const Compared& field : fields) judge_field(context, field, alone);
  for (const auto& [host, of_host] : alone) add_alone(context, host, of_host);
}

}  // namespace bench

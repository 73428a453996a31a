#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/verdicts/acceptance/gate_context.h"
#include "results/verdicts/peers/compared.h"

namespace bench {
namespace {

Reason reason_of_peers(const Compared& field, std::size_t i, Verdict verdict,
                       const std::string& gate) {
  Reason reason = reason_of(*field.metric, verdict, gate);
  reason.value = field.centres[i];
  reason.expected = field.scores.median;
  reason.job = field.metric->by_hosts.at({field.hosts[i]}).front().job;
  return reason;
}

std::string against(const Compared& field, const HostMetric& row) {
  const auto& metric = *field.metric;
  return fmt::format("{}: {}, {} than the median of {} peers ({}; z {:.1f})", metric.title(),
                     format(row.value, metric.unit), loss_text(row.loss), field.hosts.size() - 1,
                     format(row.expected, metric.unit), row.z);
}

constexpr double kMostAdvisedRuns = 50;

/// Runs until the interval is narrower than the room up to the threshold.
std::string runs_needed(const HostMetric& row) {
  const double room = row.threshold - row.loss;
  if (!(room > 0.0)) return "run again; if the loss stays at the tolerance, decide by hand";
  const double factor = row.half / room;
  const double runs = std::ceil(static_cast<double>(row.runs) * factor * factor);
  if (runs > kMostAdvisedRuns)
    return fmt::format("reduce noise on the host: its uncertainty of {} hides a loss of {}",
                       share_text(row.half), share_text(row.threshold));
  return fmt::format("run again: about {:.0f} clean runs in total are needed", runs);
}

/// Passes only when the whole interval lies within the threshold.
void judge_interval(const GateContext& context, const Compared& field, std::size_t i,
                    HostMetric& row) {
  row.verdict = Verdict::pass;
  if (row.loss + row.half <= row.threshold) return;
  row.verdict = Verdict::inconclusive;
  Reason reason = reason_of_peers(field, i, row.verdict, "peers");
  if (row.loss - row.half > row.threshold) {
    reason.text = against(field, row) +
                  fmt::format(", but {} hosts with this much spread are too few to be certain",
                              field.hosts.size());
    reason.next_step = "add hosts of this kind, or set a bound in the suite (gates)";
  } else {
    reason.text =
        against(field, row) + fmt::format("; uncertainty +-{}, tolerance {}", share_text(row.half),
                                          share_text(row.threshold));
    reason.next_step = runs_needed(row);
    reason.more_runs = true;
  }
  context.add_reason(field.hosts[i], std::move(reason));
}

/// Too few hosts for a peer comparison: only a bound of the suite can pass this metric.
void judge_alone(const GateContext& context, const Compared& field, std::size_t i,
                 HostMetric& row) {
  row.expected = row.loss = row.half = row.z = kNoValue;
  row.verdict = Verdict::pass;
  if (context.bounded.contains(bound_key(field.hosts[i], row.case_name, row.metric))) return;
  row.verdict = Verdict::inconclusive;
  Reason reason = reason_of_peers(field, i, row.verdict, "peers");
  reason.expected = kNoValue;
  reason.text = fmt::format("{}: {}; only {} comparable host{}, peer comparison needs {}",
                            field.metric->title(), format(row.value, row.unit), field.hosts.size(),
                            field.hosts.size() == 1 ? "" : "s", kFewestPeers);
  reason.next_step = fmt::format(
      "run at least {} hosts of one kind, or set a bound in the suite (gates)", kFewestPeers);
  context.add_reason(field.hosts[i], std::move(reason));
}

void judge_scatter(const GateContext& context, const Compared& field, std::size_t i,
                   HostMetric& row) {
  const double own = field.noise.of_host[i];
  if (field.scatter_chance[i] > kRepeatabilityShare * context.settings.level || own < row.threshold)
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

HostMetric row_of_peers(const Compared& field, std::size_t i) {
  const MetricRuns& metric = *field.metric;
  HostMetric row{metric.case_name, metric.metric, metric.params, metric.unit, field.runs[i].size()};
  row.value = field.centres[i];
  row.expected = field.scores.median;
  row.loss = loss(row.value, row.expected, metric.better);
  row.half = field.noise.half[i];
  row.threshold = metric.threshold;
  row.z = field.scores.z[i];
  for (const Observation& seen : metric.by_hosts.at({field.hosts[i]})) {
    if (!seen.usable || !seen.limit) continue;
    row.limit = seen.limit->value;
    row.of_limit = of_limit(row.value, metric.better, seen.limit);
  }
  return row;
}

void judge_host(const GateContext& context, const Compared& field, std::size_t i) {
  HostMetric row = row_of_peers(field, i);
  const auto count = field.hosts.size();
  const bool failing =
      row.loss > row.threshold &&
      stands_out(field.scores, i, row.loss, field.chance[i], kPeersShare * context.settings.level);
  if (count < kFewestPeers) {
    judge_alone(context, field, i, row);
  } else if (failing) {
    row.verdict = Verdict::fail;
    Reason reason = reason_of_peers(field, i, row.verdict, "peers");
    reason.text = against(field, row) + fmt::format("; allowed: {}", share_text(row.threshold));
    context.add_reason(field.hosts[i], std::move(reason));
  } else if (row.runs >= context.settings.fewest_runs) {
    judge_interval(context, field, i, row);
    if (!field.scatter.z.empty()) judge_scatter(context, field, i, row);
  }
  context.host(field.hosts[i])->metrics.push_back(std::move(row));
}

/// A host with too few usable runs of a metric cannot pass it.
void judge_coverage(const GateContext& context, const MetricRuns& metric, const std::string& host) {
  if (auto reason = too_few_runs(metric, {host}, context.settings.fewest_runs))
    context.add_reason(host, std::move(*reason));
}

bool by_single_hosts(const MetricRuns& metric) {
  return std::ranges::any_of(metric.by_hosts, [](const auto& entry) {
    return entry.first.size() == 1 &&
           std::ranges::any_of(entry.second, [](const Observation& seen) {
             return seen.outcome != Status::skipped;
           });
  });
}

}  // namespace

void judge_peers(GateContext& context) {
  std::vector<Compared> fields;
  for (const MetricRuns& metric : context.metrics)
    if (by_single_hosts(metric)) fields.push_back(compared(metric, context.settings.hosts));
  find_chances(fields);
  for (const Compared& field : fields) {
    for (std::size_t i = 0; i < field.hosts.size(); ++i) judge_host(context, field, i);
    for (const std::string& host : context.settings.hosts)
      judge_coverage(context, *field.metric, host);
  }
}

}  // namespace bench

// Which results of runs are points of one curve.
#include "results/verdicts/scaling/scaling_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/disclaimer.h"
#include "core/hostlist.h"
#include "core/json_fields.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "results/store/history.h"
#include "results/verdicts/peers/observations.h"
#include "results/verdicts/training/training_report.h"
#include "results/verdicts/training/training_scaling.h"

namespace bench {
namespace {

/// Finishes a curve; one with a single number of workers is only counted.
void add_curve(ScalingCurve curve, const ScalingSettings& settings, ScalingReport& report) {
  ++report.seen;
  if (curve.points.size() < 2) return;
  finish(curve, settings);
  report.curves.push_back(std::move(curve));
}

bool is_of_training(const std::string& metric) {
  return metric.starts_with("training.") || metric.starts_with("external.");
}

/// Only rates and times with a direction.
bool can_scale(const Series& series) {
  const bool rate = series.unit == Unit::byte_per_second || series.unit == Unit::flop_per_second ||
                    series.unit == Unit::op_per_second;
  return !series.metric.empty() && series.outcome == Status::ok && series.median > 0.0 &&
         std::isfinite(series.median) &&
         ((rate && series.better == Better::higher) ||
          (series.unit == Unit::second && series.better == Better::lower));
}

ScalingLaw law_of(const Series& series, const ScalingSettings& settings) {
  if (settings.law) return *settings.law;
  const bool time = series.unit == Unit::second;
  // Threads and similar parameters are workers within one series.
  if (settings.over != "ranks" && settings.over != "hosts")
    return time ? ScalingLaw::strong_time : ScalingLaw::total_rate;
  if (series.metric.starts_with("collective.") || (series.over == "rank" && series.ranks > 1))
    return time ? ScalingLaw::weak_time : ScalingLaw::own_rate;
  return time ? ScalingLaw::strong_time : ScalingLaw::total_rate;
}

double workers_of(const Series& series, const PlannedJob& job, const std::string& over) {
  if (over == "ranks") return series.ranks;
  if (over == "hosts") return static_cast<double>(job.hosts.size());
  const double inside = number_field(series.params, over.c_str());
  return std::isfinite(inside) ? inside : number_field(job.params, over.c_str());
}

/// Everything that must be equal apart from the number of workers.
Json same_of(const Series& series, const PlannedJob& job, const std::string& over, bool several) {
  Json same = whole_params(job, series);
  same.erase(over);
  const auto hosts = std::max<std::size_t>(1, job.hosts.size());
  // Eight ranks on one host differ from eight ranks on eight hosts.
  if (over == "ranks" && several)
    same["ranks_per_host"] = static_cast<double>(series.ranks) / hosts;
  if (over != "ranks")
    same["ranks"] = over == "hosts" ? series.ranks / static_cast<int>(hosts) : series.ranks;
  if (over != "ranks" && over != "hosts") same["host"] = series.host;
  return same;
}

struct Gathered {
  ScalingCurve curve;
  /// N -> run and job -> values of its ranks, and the last series of it.
  std::map<double, std::map<std::pair<std::string, std::string>, std::vector<double>>> values;
  std::map<double, Series> last;
};

using Curves = std::map<std::string, Gathered>;

std::set<std::string> cases_of_several_hosts(const PlannedJobs& jobs) {
  std::set<std::string> found;
  for (const auto& [id, job] : jobs)
    if (job->hosts.size() > 1) found.insert(job->case_name);
  return found;
}

void gather(const RunSummary& report, const ScalingSettings& settings, Curves& curves) {
  const PlannedJobs jobs = jobs_by_id(report);
  const auto several = cases_of_several_hosts(jobs);
  for (const Result& result : report.results) {
    const Series& series = result.series;
    const auto job = jobs.find(series.job);
    if (job == jobs.end() || !can_scale(series) || is_of_training(series.metric)) continue;
    const double n = workers_of(series, *job->second, settings.over);
    if (!is_selected(series.metric, settings.metrics) || !(n >= 1.0)) continue;
    const Json same =
        same_of(series, *job->second, settings.over, several.contains(series.case_name));
    Gathered& found = curves[dump(
        Json::array({series.case_name, series.metric, same, series.device, series.over}))];
    ScalingCurve& curve = found.curve;
    curve.metric = series.metric;
    curve.params = series.params;
    curve.params.erase(settings.over);
    curve.case_name = series.case_name;
    curve.device = series.device;
    if (settings.over != "ranks" && settings.over != "hosts") curve.host = series.host;
    curve.over = settings.over;
    curve.law = law_of(series, settings);
    curve.unit = series.unit;
    curve.better = series.better;
    found.values[n][{report.run, series.job}].push_back(series.median);
    found.last[n] = series;
  }
}

/// Ranks of one job are not replicates: their median is the job's value.
ScalingCurve curve_of(const Gathered& found) {
  ScalingCurve curve = found.curve;
  for (const auto& [n, jobs] : found.values) {
    ScalePoint point{n};
    for (const auto& [job, values] : jobs) point.values.push_back(median(values));
    const Series& last = found.last.at(n);
    if (point.values.size() == 1) point.value = {point.values.front(), last.low, last.high};
    curve.points.push_back(std::move(point));
  }
  return curve;
}

/// Removes case names from titles that are unique without them.
void drop_needless_cases(std::vector<ScalingCurve>& curves) {
  std::map<std::string, std::size_t> titles;
  std::vector<std::string> cases;
  for (ScalingCurve& curve : curves) {
    cases.push_back(std::exchange(curve.case_name, ""));
    ++titles[title_of(curve)];
  }
  for (std::size_t i = 0; i < curves.size(); ++i)
    if (titles[title_of(curves[i])] > 1) curves[i].case_name = cases[i];
}

void warn_of_versions(const RunSummary& run, const RunSummary& first, ScalingReport& report) {
  if (run.programs == first.programs) return;
  report.warnings.push_back(
      fmt::format("{} and {} used different program or library versions, which may cause a step",
                  first.run, run.run));
}

/// Quota in cores, and the CPUs allowed to the ranks -> hosts.
using Quotas = std::map<std::pair<double, double>, std::set<std::string>>;

void add_quotas(const RunSummary& run, Quotas& quotas) {
  for (const Machine& machine : run.machines) {
    const double quota = number_field(machine.facts, "cpu_quota_cores");
    const double cpus = number_field(machine.facts, "allowed_cpus");
    if (quota < cpus) quotas[{quota, cpus}].insert(machine.host);
  }
}

/// Hosts that are throttled look like workers that scale badly.
void warn_of_quotas(const Quotas& quotas, ScalingReport& report) {
  for (const auto& [cores, hosts] : quotas)
    report.warnings.push_back(
        fmt::format("{} had a CPU quota of {:g} cores for {:g} CPUs: efficiency there may be that "
                    "of the quota",
                    compact_hostlist({hosts.begin(), hosts.end()}), cores.first, cores.second));
}

/// The part of a step in which ranks exchange gradients, or sums of a divided model.
double exposed_share(const TrainingGroup& group) {
  double share = kNoValue;
  for (const TrainingPhase& phase : group.breakdown)
    if (phase.phase == "exchange_exposed" || phase.phase == "tensor_exchange" ||
        phase.phase == "context_exchange" || phase.phase == "expert_exchange")
      share = (std::isfinite(share) ? share : 0.0) + phase.share;
  return share;
}

double samples_to_target(const TrainingGroup& group) {
  return std::exp(log_mean(samples_of(group)).mean);
}

/// Training throughput; the extra samples needed by larger batches are a separate column.
ScalingCurve training_curve(const TrainingReport& report, const Scaling& scaling) {
  ScalingCurve curve;
  const TrainingGroup& base = report.groups[scaling.points.front().group];
  curve.metric = "training.items_per_second";
  curve.params = {{"workload", base.setup.workload},
                  {"preset", base.setup.preset},
                  {"dtype", base.setup.dtype}};
  curve.params[scaling.weak ? "batch_per_rank" : "batch"] =
      scaling.weak ? base.setup.batch / std::max<std::int64_t>(1, base.setup.ranks)
                   : base.setup.batch;
  curve.device = base.setup.device;
  curve.over = "ranks";
  curve.kind = scaling.weak ? "weak" : "strong";
  for (const ScalingPoint& from : scaling.points) {
    const TrainingGroup& group = report.groups[from.group];
    ScalePoint point{static_cast<double>(from.ranks)};
    for (const TrainingRun& run : group.runs)
      if (was_timed(run) && run.items_per_second > 0.0)
        point.values.push_back(run.items_per_second);
    if (point.values.empty()) continue;
    point.value = {from.items_per_second, group.items_low, group.items_high};
    point.communication = exposed_share(group);
    point.samples_penalty = samples_to_target(group) / samples_to_target(base);
    point.time_efficiency = from.time_efficiency;
    curve.points.push_back(std::move(point));
  }
  return curve;
}

/// Strong and weak scalings of trainings over their ranks.
void add_trainings(std::span<const RunRecords> runs, const ScalingSettings& settings,
                   ScalingReport& report) {
  if (settings.over != "ranks" || !is_selected("training.items_per_second", settings.metrics))
    return;
  const TrainingReport training = make_training_report(runs);
  report.seen +=
      training.groups.size() - std::min(training.groups.size(), training.scalings.size());
  for (const Scaling& scaling : training.scalings)
    add_curve(training_curve(training, scaling), settings, report);
}

}  // namespace

ScalingReport make_scaling_report(std::span<const RunRecords> runs,
                                  const ScalingSettings& settings) {
  ScalingReport report;
  report.over = settings.over;
  Curves curves;
  Quotas quotas;
  std::optional<RunSummary> first;
  for (const RunRecords& run : runs) {
    RunSummary one = make_run_summary(run);
    report.runs.push_back(one.run);
    gather(one, settings, curves);
    add_quotas(one, quotas);
    if (!first)
      first = std::move(one);
    else
      warn_of_versions(one, *first, report);
  }
  warn_of_quotas(quotas, report);
  for (const auto& [key, found] : curves) add_curve(curve_of(found), settings, report);
  add_trainings(runs, settings, report);
  drop_needless_cases(report.curves);
  if (std::ranges::any_of(report.curves, [](const ScalingCurve& curve) {
        return mlperf::is_imported(curve.metric);
      }))
    report.warnings.emplace_back(mlperf::kImportedWarning);
  if (!report.curves.empty()) report.exit_code = ExitCode::ok;
  return report;
}

}  // namespace bench

#include "results/localisation/incident.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "results/acceptance/metric_class.h"
#include "results/localisation/device_names.h"
#include "results/localisation/gate_misses.h"
#include "results/localisation/job_family.h"
#include "results/run_summary.h"

namespace bench {
namespace {

constexpr double kOtherThreshold = 0.01;

bool is_wrong(const Series* series) {
  return series->outcome == Status::invalid && series->check && !series->check->passed();
}

bool failed(const JobResult& job, const SeriesOfJob& all) {
  if (job.outcome == Status::failed || job.outcome == Status::timed_out ||
      job.outcome == Status::invalid)
    return true;
  const auto own = all.find(job.job.id);
  return own != all.end() && std::ranges::any_of(own->second, is_wrong);
}

/// Most runs have no incident.
bool any_incident(const RunSummary& report, const SeriesOfJob& all) {
  const bool missed = std::ranges::any_of(report.gates, [&](const GateResult& gate) {
    return gate.series && misses(gate, report.results[*gate.series].series);
  });
  return missed || std::ranges::any_of(report.jobs, [&](const JobResult& job) {
           return job.job.ranks > 1 && failed(job, all);
         });
}

Incident incident_of(const JobFamily& family) {
  Incident incident;
  incident.case_name = family.one->case_name;
  incident.device = family.one->device;
  incident.part = family.one->part;
  incident.ranks_per_host = ranks_on_each_host(*family.one);
  return incident;
}

/// Result of a job on a part.
struct PartResult {
  Symptom symptom = Symptom::unknown;
  double value = kNoValue;
};

/// Adds the jobs of the family, classified by `judge`.
template <class Judge>
void add_jobs(const JobFamily& family, Judge judge, Incident& incident) {
  const auto count = [&](const JobResult& job) {
    incident.longest_s = std::fmax(incident.longest_s, job.seconds);
    if (job.job.search_of.empty()) return;
    ++incident.searched;
    incident.searched_s += job.seconds;
  };
  for (const JobResult* job : family.jobs) {
    const PartResult result = judge(*job);
    incident.trials.push_back({job->job.hosts, result.symptom, result.value, job->job.id});
    count(*job);
  }
  for (const JobResult* job : family.on_devices) {
    const PartResult result = judge(*job);
    incident.device_jobs.push_back(
        {job->job.hosts, devices_in(job->job.part), result.symptom, result.value, job->job.id});
    count(*job);
  }
  for (const JobResult* job : family.elsewhere)
    if (const PartResult result = judge(*job); result.symptom == Symptom::absent)
      incident.fine_hosts.push_back({job->job.hosts, result.symptom, result.value, job->job.id});
}

std::optional<Incident> failed_incident(const JobFamily& family, const SeriesOfJob& all) {
  Incident incident = incident_of(family);
  // A host that dropped out is already known.
  const auto shows = [&](const JobResult& job) { return failed(job, all) && job.out.empty(); };
  for (const JobResult* job : family.jobs) {
    const bool own = job->job.search_of.empty();
    if (!shows(*job) || !own || job->job.hosts.size() <= incident.hosts.size()) continue;
    incident.job = job->job.id;
    incident.hosts = job->job.hosts;
    incident.reason =
        std::string(to_string(job->outcome)) + (job->reason.empty() ? "" : ": " + job->reason);
  }
  if (incident.job.empty()) return {};
  const auto judge = [&](const JobResult& job) {
    return PartResult{shows(job)                  ? Symptom::present
                      : job.outcome == Status::ok ? Symptom::absent
                                                  : Symptom::unknown};
  };
  add_jobs(family, judge, incident);
  return incident;
}

/// The gate missed most by a job of the family.
struct Missed {
  const GateResult* gate = nullptr;
  const Series* series = nullptr;
  const JobResult* job = nullptr;
  double by = 0.0;
};

/// Per-rank series of a single host already identify the rank.
bool is_per_rank(const Series& series, const JobResult& job) {
  return job.job.hosts.size() == 1 && series.over == "rank";
}

Missed worst_missed(const JobFamily& family, const RunSummary& report) {
  Missed worst;
  for (const GateResult& gate : report.gates) {
    if (!gate.series) continue;
    const Series& series = report.results[*gate.series].series;
    if (!misses(gate, series)) continue;
    const auto job = std::ranges::find(family.jobs, series.job,
                                       [](const JobResult* one) { return one->job.id; });
    if (job == family.jobs.end() || !(*job)->job.search_of.empty()) continue;
    if (is_per_rank(series, **job)) continue;
    const double by =
        shortfall(series.median, bound_of(gate.gate, series), is_floor(gate.gate, series));
    if (by > worst.by) worst = {&gate, &series, *job, by};
  }
  return worst;
}

/// Marks rates below the best of as many hosts by more than the threshold.
void compare_with_equals(std::vector<Trial>& trials, double threshold) {
  std::map<std::size_t, double> best;
  for (const Trial& trial : trials) {
    double& value = best.try_emplace(trial.hosts.size(), kNoValue).first->second;
    value = std::fmax(value, trial.value);
  }
  for (Trial& trial : trials)
    if (trial.symptom == Symptom::absent &&
        trial.value < best[trial.hosts.size()] * (1.0 - threshold))
      trial.symptom = Symptom::present;
}

/// Whether the job misses the same gate as the slow one.
PartResult judge_slow(const JobResult& job, const Missed& missed, const SeriesOfJob& all) {
  const Series* series = same_series(all, *missed.series, missed.job->job, job.job);
  const bool usable = series != nullptr && series->outcome == Status::ok &&
                      std::isfinite(series->median) && series->median > 0.0;
  if (!usable) return {};
  const Gate& gate = missed.gate->gate;
  const double bound = bound_of(gate, *series);
  if (!std::isfinite(bound)) return {Symptom::unknown, series->median};
  const bool misses = shortfall(series->median, bound, is_floor(gate, *series)) > 0.0;
  return {misses ? Symptom::present : Symptom::absent, series->median};
}

std::optional<Incident> slow_incident(const JobFamily& family, const RunSummary& report,
                                      const SeriesOfJob& all) {
  const Missed missed = worst_missed(family, report);
  if (missed.gate == nullptr) return {};
  const Series& slow = *missed.series;
  Incident incident = incident_of(family);
  incident.slow = true;
  incident.job = missed.job->job.id;
  incident.hosts = missed.job->job.hosts;
  incident.metric = slow.metric;
  incident.params = slow.params;
  incident.unit = slow.unit;
  incident.better = slow.better;
  incident.value = slow.median;
  incident.bound = bound_of(missed.gate->gate, slow);
  incident.threshold = std::max(practical_threshold(slow.metric).value_or(kOtherThreshold),
                                1.0 - std::sqrt(1.0 - missed.by));
  add_jobs(
      family, [&](const JobResult& job) { return judge_slow(job, missed, all); }, incident);
  if (slow.better == Better::higher) compare_with_equals(incident.trials, incident.threshold);
  return incident;
}

}  // namespace

std::vector<Incident> incidents(const RunSummary& report) {
  const SeriesOfJob all = series_by_job(report);
  std::vector<Incident> list;
  if (!any_incident(report, all)) return list;
  for (const JobFamily& family : job_families(report)) {
    auto incident = failed_incident(family, all);
    if (!incident) incident = slow_incident(family, report, all);
    if (incident) list.push_back(std::move(*incident));
  }
  return list;
}

}  // namespace bench

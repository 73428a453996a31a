#include "results/localisation/incident.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/text.h"
#include "results/acceptance/metric_class.h"
#include "results/reports/run_report.h"

namespace bench {
namespace {

constexpr double kBeyondOthers = 0.5;
constexpr double kOtherThreshold = 0.01;

bool somebody_fell_out(const JobResult& job) { return !job.out.empty(); }

/// Jobs that do the same on different hosts.
struct Family {
  std::string case_name;
  std::vector<const JobResult*> jobs;
};

using SeriesOfJob = std::map<std::string, std::vector<const Series*>>;

SeriesOfJob series_by_job(const RunReport& report) {
  SeriesOfJob all;
  for (const Result& result : report.results) all[result.series.job].push_back(&result.series);
  return all;
}

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

/// In the unit of the metric; of several bounds the first.
double bound_of(const Gate& gate, const Series& series) {
  if (gate.min) return *gate.min;
  if (gate.max) return *gate.max;
  if (!gate.min_of_limit || !series.limit) return kNoValue;
  return series.better == Better::lower ? series.limit->value / *gate.min_of_limit
                                        : series.limit->value * *gate.min_of_limit;
}

bool is_floor(const Gate& gate, const Series& series) {
  return gate.min || (!gate.max && series.better != Better::lower);
}

/// How much of the bound is missing: 0.9 for a tenth of a floor, and for ten times a ceiling.
double shortfall(double value, double bound, bool floor) {
  return 1.0 - (floor ? value / bound : bound / value);
}

/// Other work beside a job costs it time slices, not half of what its best sample reaches.
bool misses(const GateResult& gate, const Series& series) {
  if (gate.verdict == Verdict::fail) return true;
  if (gate.verdict == Verdict::pass || !gate.measured || series.clean > 0) return false;
  const bool floor = is_floor(gate.gate, series);
  return shortfall(floor ? series.max : series.min, bound_of(gate.gate, series), floor) >=
         kBeyondOthers;
}

/// Most runs have nothing to look for.
bool any_trouble(const RunReport& report, const SeriesOfJob& all) {
  const bool missed = std::ranges::any_of(report.gates, [&](const GateResult& gate) {
    return gate.series && misses(gate, report.results[*gate.series].series);
  });
  return missed || std::ranges::any_of(report.jobs, [&](const JobResult& job) {
           return job.job.hosts.size() > 1 && failed(job, all);
         });
}

std::vector<Family> families(const RunReport& report) {
  std::map<std::string, const PlannedJob*> templates;
  for (const JobResult& job : report.jobs) templates[job.job.id] = &job.job;
  std::vector<Family> list;
  std::map<std::string, std::size_t> place;
  for (const JobResult& job : report.jobs) {
    if (job.job.hosts.size() < 2) continue;
    const auto original = templates.find(job.job.search_of);
    const PlannedJob& one = original == templates.end() ? job.job : *original->second;
    const auto hosts = static_cast<int>(std::max<std::size_t>(1, one.hosts.size()));
    const auto [slot, is_new] = place.try_emplace(
        dump(Json::array({one.case_name, one.params, one.device, one.ranks / hosts, one.binding})),
        list.size());
    if (is_new) list.push_back({one.case_name, {}});
    list[slot->second].jobs.push_back(&job);
  }
  return list;
}

Trial trial_of(const JobResult& job, Symptom symptom) {
  return {job.job.hosts, symptom, kNoValue, job.job.id};
}

void count(Incident& incident, const JobResult& job) {
  incident.longest_s = std::fmax(incident.longest_s, job.seconds);
  if (job.job.search_of.empty()) return;
  ++incident.searched;
  incident.searched_s += job.seconds;
}

std::optional<Incident> failed_incident(const Family& family, const SeriesOfJob& all) {
  Incident incident;
  incident.case_name = family.case_name;
  for (const JobResult* job : family.jobs) {
    const bool shows = failed(*job, all) && !somebody_fell_out(*job);
    const Symptom symptom = shows                        ? Symptom::present
                            : job->outcome == Status::ok ? Symptom::absent
                                                         : Symptom::untold;
    incident.trials.push_back(trial_of(*job, symptom));
    count(incident, *job);
    const bool own = job->job.search_of.empty();
    if (!shows || !own || job->job.hosts.size() <= incident.hosts.size()) continue;
    incident.job = job->job.id;
    incident.hosts = job->job.hosts;
    incident.reason =
        std::string(to_string(job->outcome)) + (job->reason.empty() ? "" : ": " + job->reason);
  }
  if (incident.job.empty()) return {};
  return incident;
}

/// The gate that is missed most by a job of the family.
struct Missed {
  const GateResult* gate = nullptr;
  const Series* series = nullptr;
  const JobResult* job = nullptr;
  double by = 0.0;
};

Missed worst_missed(const Family& family, const RunReport& report) {
  Missed worst;
  for (const GateResult& gate : report.gates) {
    if (!gate.series) continue;
    const Series& series = report.results[*gate.series].series;
    if (!misses(gate, series)) continue;
    const auto job = std::ranges::find(family.jobs, series.job,
                                       [](const JobResult* one) { return one->job.id; });
    if (job == family.jobs.end() || !(*job)->job.search_of.empty()) continue;
    const double by =
        shortfall(series.median, bound_of(gate.gate, series), is_floor(gate.gate, series));
    if (by > worst.by) worst = {&gate, &series, *job, by};
  }
  return worst;
}

const Series* same_series(const SeriesOfJob& all, const Series& like, const std::string& job) {
  const auto own = all.find(job);
  if (own == all.end()) return nullptr;
  const auto found = std::ranges::find_if(own->second, [&](const Series* series) {
    return series->metric == like.metric && series->params == like.params &&
           series->over == like.over && (series->over != "rank" || series->rank == like.rank);
  });
  return found == own->second.end() ? nullptr : *found;
}

/// Rates below the best of equally many hosts by more than the threshold.
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

std::optional<Incident> slow_incident(const Family& family, const RunReport& report,
                                      const SeriesOfJob& all) {
  const Missed missed = worst_missed(family, report);
  if (missed.gate == nullptr) return {};
  const Series& slow = *missed.series;
  Incident incident;
  incident.slow = true;
  incident.case_name = family.case_name;
  incident.job = missed.job->job.id;
  incident.hosts = missed.job->job.hosts;
  incident.metric = slow.metric;
  incident.params = slow.params;
  incident.unit = slow.unit;
  incident.better = slow.better;
  incident.value = slow.median;
  incident.bound = bound_of(missed.gate->gate, slow);
  for (const JobResult* job : family.jobs) {
    Trial trial = trial_of(*job, Symptom::untold);
    const Series* series = same_series(all, slow, job->job.id);
    const bool usable = series != nullptr && series->outcome == Status::ok &&
                        std::isfinite(series->median) && series->median > 0.0;
    if (usable) {
      trial.value = series->median;
      const double bound = bound_of(missed.gate->gate, *series);
      const bool misses = shortfall(trial.value, bound, is_floor(missed.gate->gate, *series)) > 0.0;
      if (std::isfinite(bound)) trial.symptom = misses ? Symptom::present : Symptom::absent;
    }
    incident.trials.push_back(std::move(trial));
    count(incident, *job);
  }
  if (slow.better == Better::higher)
    compare_with_equals(incident.trials,
                        std::max(practical_threshold(slow.metric).value_or(kOtherThreshold),
                                 1.0 - std::sqrt(1.0 - missed.by)));
  return incident;
}

}  // namespace

std::vector<Incident> incidents(const RunReport& report) {
  const SeriesOfJob all = series_by_job(report);
  std::vector<Incident> list;
  if (!any_trouble(report, all)) return list;
  for (const Family& family : families(report)) {
    auto incident = failed_incident(family, all);
    if (!incident) incident = slow_incident(family, report, all);
    if (incident) list.push_back(std::move(*incident));
  }
  return list;
}

}  // namespace bench

#include "results/verdicts/localisation/incident.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/fields.h"
#include "core/hostlist.h"
#include "core/json_fields.h"
#include "core/text.h"
#include "results/run/gates.h"
#include "results/run/metric_catalogue.h"
#include "results/run/run_summary.h"
#include "results/run/series.h"
#include "results/stats/peers.h"
#include "results/verdicts/localisation/device_search.h"
#include "results/verdicts/localisation/job_family.h"

namespace bench {
namespace {

// Whether a series misses a gate of its case, and by how much.

constexpr double kCrowdedShortfall = 0.5;

/// The first bound of the gate, in the unit of the metric. kNoValue for a share of an unknown
/// limit.
double bound_of(const Gate& gate, const Series& series) {
  if (gate.min) return *gate.min;
  if (gate.max) return *gate.max;
  if (!gate.min_of_limit || !series.limit) return kNoValue;
  return series.better == Better::lower ? series.limit->value / *gate.min_of_limit
                                        : series.limit->value * *gate.min_of_limit;
}

/// Whether that bound is a minimum.
bool is_floor(const Gate& gate, const Series& series) {
  return gate.min || (!gate.max && series.better != Better::lower);
}

/// Relative distance to the bound: 0.9 at a tenth of a minimum or ten times a maximum.
double shortfall(double value, double bound, bool floor) {
  return 1.0 - (floor ? value / bound : bound / value);
}

/// With the whole interval of the median; without clean samples, by half with the best sample, as
/// other work costs time slices, not half of the best sample.
bool misses(const GateResult& gate, const Series& series) {
  if (series.derived) return false;  // smaller jobs do not have it
  if (gate.verdict == Verdict::fail) return true;
  if (gate.verdict == Verdict::pass || !gate.measured || series.clean > 0) return false;
  const bool floor = is_floor(gate.gate, series);
  return shortfall(floor ? series.max : series.min, bound_of(gate.gate, series), floor) >=
         kCrowdedShortfall;
}

/// "11.8 MB/s on node[01,03]"; for jobs without a value "node[01,03]".
std::string trial_text(const Trial& trial, const Incident& incident) {
  const std::string hosts = compact_hostlist(trial.hosts);
  if (!std::isfinite(trial.value)) return hosts;
  return format(trial.value, incident.unit) + " on " + hosts;
}

}  // namespace

double rate_of(double value, Better better) {
  return better == Better::higher ? value : better == Better::lower ? 1.0 / value : kNoValue;
}

std::string evidence_text(const SearchFinding& finding, const std::vector<Trial>& trials,
                          const Incident& incident, Symptom symptom) {
  std::vector<std::string> parts;
  for (const std::size_t i : finding.evidence)
    if (trials.at(i).symptom == symptom) parts.push_back(trial_text(trials[i], incident));
  if (parts.empty()) return "no job";
  const char* how = incident.slow                 ? ""
                    : symptom == Symptom::present ? "jobs fail on "
                                                  : "jobs pass on ";
  return how + join(parts, ", ");
}

Json evidence_json(const SearchFinding& finding, const std::vector<Trial>& trials,
                   const char* what) {
  Json list = Json::array();
  for (const std::size_t i : finding.evidence) {
    const Trial& trial = trials.at(i);
    list.push_back({{"job", trial.job},
                    {what, trial.hosts},
                    {"shows", trial.symptom == Symptom::present},
                    {"value", number_or_null(trial.value)}});
  }
  return list;
}

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

/// The trials on one set of hosts.
struct Repeats {
  double low = kNoValue, high = kNoValue;  // rates
  bool all_miss = true;

  void add(const Trial& trial) {
    low = std::fmin(low, trial.rate);
    high = std::fmax(high, trial.rate);
    all_miss &= trial.symptom == Symptom::present;
  }
  double spread() const { return std::log(high / low); }
};

/// Sets of equally many hosts.
struct SameSize {
  double best = kNoValue;
  bool all_miss = true;
};

// Other work costs time slices, not nine tenths of a rate.
constexpr double kBeyondLoad = 0.1;

/// A part of the hosts shows the symptom if its best rate is below the best of as many hosts, by
/// more than the threshold and beyond the largest difference of repeats; or if all of as many hosts
/// miss the gate.
void compare_with_equals(Incident& incident) {
  std::map<Hosts, Repeats> of_hosts;
  std::map<std::size_t, SameSize> of_size;
  const auto key = [](Hosts hosts) {
    std::ranges::sort(hosts);
    return hosts;
  };
  double scatter = 0.0;
  for (Trial& trial : incident.trials) {
    trial.rate = rate_of(trial.value, incident.better);
    if (!(trial.rate > 0.0)) continue;
    Repeats& repeats = of_hosts[key(trial.hosts)];
    repeats.add(trial);
    scatter = std::max(scatter, repeats.spread());
    SameSize& equals = of_size[trial.hosts.size()];
    equals.best = std::fmax(equals.best, trial.rate);
    equals.all_miss &= trial.symptom == Symptom::present;
  }
  for (Trial& trial : incident.trials) {
    if (!(trial.rate > 0.0) || trial.hosts.size() >= incident.hosts.size()) continue;
    const Repeats& own = of_hosts[key(trial.hosts)];
    const SameSize& equals = of_size[trial.hosts.size()];
    if (equals.all_miss) continue;
    // Times vary with the path between good hosts: one within the gate is fine.
    const bool may_be_slow = incident.better == Better::higher || trial.value > incident.bound;
    const bool slow = may_be_slow && own.high < equals.best * (1.0 - incident.threshold) &&
                      std::log(equals.best / own.high) > kBeyondRepeats * scatter;
    trial.symptom = slow ? Symptom::present : Symptom::absent;
    // Larger parts only lead to the pairs that accuse.
    const bool beyond_load = own.all_miss && own.high < kBeyondLoad * equals.best;
    trial.compared = slow && trial.hosts.size() == 2 && !beyond_load;
  }
}

/// Half of what the slow job misses, on a logarithmic scale.
double least_shortfall(const Missed& missed) { return 1.0 - std::sqrt(1.0 - missed.by); }

/// Whether the job misses the same gate, and even its best sample by half of what the slow job
/// misses. A job that misses less explains nothing: its hosts are compared with their equals.
PartResult judge_slow(const JobResult& job, const Missed& missed, const SeriesOfJob& all) {
  const Series* series = same_series(all, *missed.series, missed.job->job, job.job);
  const bool usable = series != nullptr && series->outcome == Status::ok &&
                      std::isfinite(series->median) && series->median > 0.0;
  if (!usable) return {};
  const Gate& gate = missed.gate->gate;
  const double bound = bound_of(gate, *series);
  if (!std::isfinite(bound)) return {Symptom::unknown, series->median};
  const bool floor = is_floor(gate, *series);
  const double best = floor ? series->max : series->min;
  const bool clear = job.job.id == missed.job->job.id || series->better == Better::none ||
                     shortfall(best, bound, floor) >= least_shortfall(missed);
  const bool misses = shortfall(series->median, bound, floor) > 0.0 && clear;
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
  incident.threshold =
      std::max(practical_threshold(slow.metric).value_or(kOtherThreshold), least_shortfall(missed));
  add_jobs(
      family, [&](const JobResult& job) { return judge_slow(job, missed, all); }, incident);
  compare_with_equals(incident);
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

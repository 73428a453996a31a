#include "results/verdicts/nightly/suspects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/hostlist.h"
#include "core/order_statistics.h"
#include "results/run/metric_catalogue.h"
#include "results/stats/false_discovery.h"
#include "results/verdicts/nightly/confirmation.h"

namespace bench {
namespace {

/// Whether the key belongs to the series. A key also has the settings of the job, the rank and the
/// number of hosts.
bool is_of(const SeriesKey& key, const Series& series, const PlannedJob& job) {
  if (key.metric != series.metric || key.host != series.host || key.ranks != series.ranks ||
      key.over != series.over || !key.device.starts_with(series.device))
    return false;
  for (const auto& [name, value] : series.params.items())
    if (!key.params.contains(name) || key.params[name] != value) return false;
  for (const auto& [name, value] : key.params.items())
    if (!series.params.contains(name) && job.params.contains(name) && job.params[name] != value)
      return false;
  return true;
}

bool is_same(const NightFinding& finding, const Series& series) {
  return finding.kind == SuspicionKind::slower && finding.case_name == series.case_name &&
         finding.metric == series.metric && finding.params == series.params &&
         finding.host_name == series.host;
}

bool is_acknowledged(const ChangeFinding& flag) {
  return flag.state == FindingState::acked || flag.state == FindingState::noise;
}

NightFinding suspicion_of(const ChangeFinding& flag, const Series& series, const JobResult& job) {
  NightFinding finding = finding_of(job, "", SuspicionKind::slower, series);
  finding.expected = flag.expected;
  finding.p = flag.q;
  finding.text = fmt::format("report regression: {:+.1f} %", 100.0 * flag.effect);
  return finding;
}

/// Applies the flag to the matching series of the night.
void take_flag(const ChangeFinding& flag, bool tonight, const RunSummary& night,
               Suspicions& suspicions) {
  for (const Result& result : night.results) {
    const Series& series = result.series;
    const auto job = std::ranges::find_if(
        night.jobs, [&](const JobResult& one) { return one.job.id == series.job; });
    if (job == night.jobs.end() || job->job.hosts.empty() || !is_of(flag.key, series, job->job))
      continue;
    const auto is_suspected = [&](const NightFinding& one) { return is_same(one, series); };
    if (is_acknowledged(flag)) {
      std::erase_if(suspicions.findings, is_suspected);
    } else if (tonight && series.outcome == Status::ok && is_clean(series) &&
               practical_threshold(series.metric) &&
               std::ranges::none_of(suspicions.findings, is_suspected)) {
      suspicions.findings.push_back(suspicion_of(flag, series, *job));
    }
  }
}

}  // namespace

void take_flags(const RegressionReport& flags, const RunSummary& night,
                const std::vector<std::string>& runs, Suspicions& suspicions) {
  for (const ChangeFinding& flag : flags.findings) {
    if (flag.scope != FindingScope::host) continue;
    const bool tonight = std::ranges::find(runs, flag.since.id) != runs.end() && flag.fails() &&
                         flag.key.better != Better::none;
    if (tonight || is_acknowledged(flag)) take_flag(flag, tonight, night, suspicions);
  }
}

namespace {

using JobsById = std::map<std::string, const JobResult*>;

/// One metric of one host over all jobs of a case.
struct NightSeries {
  const Series* first = nullptr;
  std::vector<double> values;
  std::size_t clean = 0, jobs = 0;
};

NightFinding finding_of(const JobResult& job, const std::string& run, SuspicionKind kind) {
  NightFinding finding;
  finding.kind = kind;
  finding.host = job.job.hosts.empty() ? "" : job.job.hosts.front();
  finding.case_name = job.job.case_name;
  finding.probe = job.job.probe;
  finding.device = job.job.device;
  finding.run = run;
  finding.job = job.job.id;
  return finding;
}

std::string on_hosts(const JobResult& job) {
  return job.job.hosts.size() < 2 ? "" : " (on " + compact_hostlist(job.job.hosts) + ")";
}

/// One finding per failed job, except search jobs and jobs that never started.
void find_failed(const RunSummary& report, std::vector<NightFinding>& findings) {
  for (const JobResult& job : report.jobs) {
    const bool failed = job.outcome == Status::failed || job.outcome == Status::timed_out;
    if (!failed || job.not_run || !job.job.search_of.empty()) continue;
    NightFinding finding = finding_of(job, report.run, SuspicionKind::failed);
    if (!job.out.empty()) finding.host = job.out.begin()->first;
    finding.text = fmt::format("{}: {}{}", to_string(job.outcome), job.reason, on_hosts(job));
    findings.push_back(std::move(finding));
  }
}

void find_wrong(const RunSummary& report, const JobsById& jobs,
                std::vector<NightFinding>& findings) {
  for (const Result& result : report.results) {
    const Series& series = result.series;
    const auto job = jobs.find(series.job);
    if (series.outcome != Status::invalid || job == jobs.end()) continue;
    NightFinding finding = finding_of(*job->second, report.run, SuspicionKind::wrong, series);
    finding.text = series.reason + on_hosts(*job->second);
    findings.push_back(std::move(finding));
  }
}

void find_missed_gates(const RunSummary& report, const JobsById& jobs,
                       std::vector<NightFinding>& findings) {
  for (const GateResult& gate : report.gates) {
    if (gate.verdict != Verdict::fail || !gate.series) continue;
    const Series& series = report.results[*gate.series].series;
    const auto job = jobs.find(series.job);
    if (job == jobs.end() || series.outcome == Status::invalid) continue;
    NightFinding finding = finding_of(*job->second, report.run, SuspicionKind::failed, series);
    finding.text = "missed a bound of the suite: " + gate.reason;
    findings.push_back(std::move(finding));
  }
}

std::string key_of(const Series& series) {
  return dump(Json::array({series.case_name, series.metric, series.params, series.over, series.host,
                           series.rank, series.device, series.ranks}));
}

std::vector<NightSeries> series_of(const RunSummary& report) {
  std::vector<NightSeries> list;
  std::map<std::string, std::size_t> places;
  for (const Result& result : report.results) {
    const Series& series = result.series;
    const bool judged = series.outcome == Status::ok && series.better != Better::none &&
                        std::isfinite(series.median) && series.median > 0.0 &&
                        practical_threshold(series.metric) && !declaration(series.metric).exact;
    if (!judged) continue;
    const auto [place, is_new] = places.try_emplace(key_of(series), list.size());
    if (is_new) list.push_back({&series, {}, 0, 0});
    NightSeries& one = list[place->second];
    ++one.jobs;
    if (!is_clean(series)) continue;
    ++one.clean;
    one.values.push_back(series.median);
  }
  return list;
}

void find_slower(const RunSummary& report, const JobsById& jobs, const HistoryOf& history,
                 const SuspicionRule& rule, Suspicions& suspicions) {
  std::vector<NightFinding> candidates;
  std::vector<double> levels, losses;
  for (const NightSeries& one : series_of(report)) {
    const auto job = jobs.find(one.first->job);
    if (job == jobs.end() || job->second->outcome != Status::ok) continue;
    const std::vector<double> past = history(identity_of(*one.first));
    suspicions.trends.push_back(
        {job->second->job.hosts.empty() ? one.first->host : job->second->job.hosts.front(),
         one.first->case_name, one.first->metric, one.first->device, one.first->params,
         one.first->better, threshold_of(one.first->metric, rule), past,
         one.values.empty() ? kNoValue : median(one.values)});
    if (one.values.empty()) {
      ++suspicions.not_clean;
      continue;
    }
    if (past.size() < rule.fewest_runs) {
      ++suspicions.no_history;
      continue;
    }
    ++suspicions.tested;
    NightFinding finding = finding_of(*job->second, report.run, SuspicionKind::slower, *one.first);
    const double value = median(one.values);
    finding.value = value;
    finding.expected = median(past);
    finding.p = chance_of(past, std::vector<double>{value}, finding.better,
                          declaration(finding.metric).noise_floor);
    levels.push_back(finding.p);
    losses.push_back(loss_of(value, finding.expected, finding.better));
    candidates.push_back(std::move(finding));
  }
  const std::vector<bool> found = rejected(levels, rule.q);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const double threshold = threshold_of(candidates[i].metric, rule);
    if (!found[i] || !(losses[i] >= threshold)) continue;
    candidates[i].text = fmt::format("{:.1f} % worse than its history", 100.0 * losses[i]);
    suspicions.findings.push_back(std::move(candidates[i]));
  }
}

/// What a CPU quota did to the jobs of one host.
struct Withheld {
  std::string host_name;  // own host name
  std::map<std::string, double> share_of_job;
  double cpu_share = kNoValue;  // smallest
  std::size_t jobs() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        share_of_job, [](const auto& job) { return job.second > kWithheldShare; }));
  }
};

double quota_of(const RunSummary& report, const std::string& host_name) {
  for (const Machine& machine : report.machines)
    if (machine.host == host_name) return number_field(machine.facts, "cpu_quota_cores");
  return kNoValue;
}

std::string quota_text(double cores) {
  return std::isinf(cores) ? "none" : fmt::format("{:.3g} cores", cores);
}

/// A quota that is as low in most earlier runs is a setting of the site: its history was measured
/// with it.
void find_withheld(const RunSummary& report, const JobsById& jobs, const QuotasOf& quotas,
                   std::vector<NightFinding>& findings) {
  std::map<std::string, Withheld> hosts;
  for (const Result& result : report.results) {
    const auto job = jobs.find(result.series.job);
    if (job == jobs.end() || job->second->outcome != Status::ok ||
        job->second->job.hosts.size() != 1)
      continue;
    Withheld& host = hosts[job->second->job.hosts.front()];
    host.host_name = result.series.host;
    double& share = host.share_of_job[result.series.job];
    share = std::max(share, withheld_share(result.series.quality));
    if (result.series.quality.cpu_share)
      host.cpu_share = std::fmin(host.cpu_share, *result.series.quality.cpu_share);
  }
  for (const auto& [name, host] : hosts) {
    if (host.jobs() == 0 || 2 * host.jobs() < host.share_of_job.size()) continue;
    const double now = quota_of(report, host.host_name);
    const std::vector<double> past = quotas ? quotas(host.host_name) : std::vector<double>{};
    if (!std::isfinite(now) || past.empty() || !(median(past) > now)) continue;
    const auto worst =
        std::ranges::max_element(host.share_of_job, {}, [](const auto& job) { return job.second; });
    NightFinding finding = finding_of(*jobs.at(worst->first), report.run, SuspicionKind::cpu_quota);
    finding.host_name = host.host_name;
    finding.text = fmt::format(
        "the CPU quota of its cgroup is {}, in {} earlier runs {}; it withheld the CPU in {} of {} "
        "jobs{}",
        quota_text(now), past.size(), quota_text(median(past)), host.jobs(),
        host.share_of_job.size(),
        std::isfinite(host.cpu_share)
            ? fmt::format("; they got as little as {:.0f} % of their CPU time",
                          100.0 * host.cpu_share)
            : "");
    findings.push_back(std::move(finding));
  }
}

/// Lists the checks of the host that raised nothing; a confirmed finding updates their hit rate.
void list_other_checks(const RunSummary& report, std::vector<NightFinding>& findings) {
  std::map<std::string, std::set<std::string>> ran;
  for (const JobResult& job : report.jobs)
    if (job.outcome == Status::ok && !job.job.hosts.empty())
      ran[job.job.hosts.front()].insert(check_name(job.job.probe, job.job.device));
  for (const NightFinding& finding : findings)
    ran[finding.host].erase(check_name(finding.probe, finding.device));
  for (NightFinding& finding : findings)
    finding.also_ran.assign(ran[finding.host].begin(), ran[finding.host].end());
}

}  // namespace

double threshold_of(const std::string& metric, const SuspicionRule& rule) {
  const auto changed = rule.thresholds.find(metric);
  return changed == rule.thresholds.end() ? declaration(metric).threshold : changed->second;
}

SeriesIdentity identity_of(const Series& series) {
  return {series.case_name, series.metric, series.params, series.over,
          series.host,      series.device, series.rank,   series.ranks};
}

NightFinding finding_of(const JobResult& job, const std::string& run, SuspicionKind kind,
                        const Series& series) {
  NightFinding finding = finding_of(job, run, kind);
  finding.host_name = series.host;
  finding.metric = series.metric;
  finding.params = series.params;
  finding.unit = series.unit;
  finding.better = series.better;
  finding.value = series.median;
  return finding;
}

bool is_withheld(const RunSummary& report, const std::string& job) {
  return std::ranges::any_of(report.results, [&](const Result& result) {
    return result.series.job == job && withheld_share(result.series.quality) > kWithheldShare;
  });
}

bool is_clean(const Series& series) { return clean_share(series) >= 0.5; }

Suspicions find_suspects(const RunSummary& report, const HistoryOf& history,
                         const SuspicionRule& rule, const QuotasOf& quotas) {
  JobsById jobs;
  for (const JobResult& job : report.jobs) jobs[job.job.id] = &job;
  Suspicions suspicions;
  find_wrong(report, jobs, suspicions.findings);
  find_failed(report, suspicions.findings);
  find_missed_gates(report, jobs, suspicions.findings);
  find_withheld(report, jobs, quotas, suspicions.findings);
  find_slower(report, jobs, history, rule, suspicions);
  list_other_checks(report, suspicions.findings);
  std::ranges::stable_sort(suspicions.findings, {}, [](const NightFinding& one) {
    return std::pair(one.kind != SuspicionKind::wrong, std::isfinite(one.p) ? one.p : 0.0);
  });
  return suspicions;
}

}  // namespace bench

#include "results/verdicts/acceptance/acceptance.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "results/verdicts/acceptance/gate_context.h"

namespace bench {
namespace {

int rank_of(const Reason& reason) { return reason.verdict == Verdict::fail ? 0 : 1; }

void add_machines(const GateContext& context) {
  for (const RunSummary& report : context.reports)
    for (const Machine& machine : report.machines) {
      HostAcceptance* host = context.host(machine.host);
      if (host == nullptr || !host->facts.empty()) continue;
      host->facts = machine.facts;
      for (const std::string& warning : machine.warnings) host->notes.push_back(warning);
    }
}

/// Maps the host name in records to the name in the hosts file; the two may differ.
void add_aliases(const RunRecords& run, std::map<std::string, std::string>& names) {
  std::map<std::string_view, std::string_view> alone;  // job -> its only host
  for (const PlannedJob& job : run.jobs)
    if (job.hosts.size() == 1) alone[job.id] = job.hosts.front();
  for (const Record& record : run.records)
    if (const auto job = alone.find(record.job);
        job != alone.end() && std::holds_alternative<Samples>(record.body))
      names.emplace(record.host, job->second);
}

/// Drops what the gates do not read once a run is summarised, keeping facts and topology jobs with
/// their outcomes. Samples of 80,000 jobs would take a hundred megabytes.
void keep_for_gates(RunRecords& run, RunSummary& report) {
  for (Result& result : report.results) result.series.record.reset();
  std::erase_if(run.jobs, [](const PlannedJob& job) { return job.probe != "topology"; });
  std::set<std::string_view> asked;
  for (const PlannedJob& job : run.jobs) asked.insert(job.id);
  std::erase_if(run.records, [&](const Record& record) {
    const bool answers = std::holds_alternative<Outcome>(record.body) && asked.contains(record.job);
    return !answers && !std::holds_alternative<Facts>(record.body);
  });
  run.jobs.shrink_to_fit();
  run.records.shrink_to_fit();
}

/// Loss to exclude: promised by the suite, unless the threshold was set by hand.
void set_resolutions(std::vector<MetricRuns>& metrics, const Json& plan,
                     const AcceptanceSettings& settings) {
  for (MetricRuns& metric : metrics)
    if (const auto promised = promised_resolution(plan, metric.metric);
        promised && !settings.thresholds.contains(metric.metric))
      metric.resolution = std::max(metric.threshold, *promised);
}

/// PASS needs at least one passing metric and no reason against it.
void conclude(HostAcceptance& host) {
  const bool any = std::ranges::any_of(
      host.metrics, [](const HostMetric& row) { return row.verdict == Verdict::pass; });
  if (!any && host.reasons.empty()) {
    Reason reason{Verdict::inconclusive, "coverage"};
    reason.text = "no measurement allows a verdict";
    reason.next_step = "use a suite whose cases run on this host";
    host.reasons.push_back(std::move(reason));
  }
  host.verdict = Verdict::pass;
  for (const Reason& reason : host.reasons) host.verdict = worse(host.verdict, reason.verdict);
  for (const HostMetric& row : host.metrics)
    if (!row.unresolved) host.verdict = worse(host.verdict, row.verdict);
  std::ranges::stable_sort(host.reasons, {}, rank_of);
}

void run_gates(GateContext& context) {
  judge_jobs(context);
  judge_preflight(context);
  judge_topology(context);
  judge_hard(context);
  judge_golden(context);
  judge_cpu_time(context);
  judge_counters(context);
  judge_peers(context);
  judge_pairs(context);
  judge_localised(context);
}

/// Removes search jobs from `run`: they count through the conclusion of the search, not as
/// measurements.
RunSummary summarise_planned(RunRecords& run, std::vector<Localisation>& concluded) {
  RunSummary report = make_run_summary(run);
  std::ranges::move(localise(report, run.plan), std::back_inserter(concluded));
  const bool searched =
      std::ranges::any_of(run.jobs, [](const PlannedJob& job) { return !job.search_of.empty(); });
  if (!searched) return report;
  run = without_searches(std::move(run));
  return make_run_summary(run);
}

}  // namespace

std::string bound_key(const std::string& host, const std::string& case_name,
                      const std::string& metric) {
  return host + "\n" + case_name + "\n" + metric;
}

HostAcceptance* GateContext::host(const std::string& name) const {
  auto found = hosts.find(name);
  if (const auto alias = aliases.find(name); found == hosts.end() && alias != aliases.end())
    found = hosts.find(alias->second);
  return found == hosts.end() ? nullptr : found->second;
}

void GateContext::add_reason(const std::string& name, Reason reason) const {
  if (HostAcceptance* found = host(name)) found->reasons.push_back(std::move(reason));
}

void GateContext::add_reason(const std::string& name, Verdict verdict, const std::string& gate,
                             const std::string& what, const std::string& text,
                             const std::string& next_step) const {
  Reason reason{verdict, gate, "", what};
  reason.text = text;
  reason.next_step = next_step;
  add_reason(name, std::move(reason));
}

Acceptance judge_acceptance(std::vector<RunRecords> runs, const AcceptanceSettings& settings) {
  Acceptance acceptance;
  std::vector<RunSummary> reports;
  std::map<std::string, std::string> names;
  std::vector<GpusOfJobs> gpus;
  for (RunRecords& run : runs) {
    reports.push_back(summarise_planned(run, acceptance.localisations));
    acceptance.runs.push_back(run.run);
    acceptance.interrupted |= reports.back().interrupted;
    add_aliases(run, names);
    gpus.push_back(gpus_of_jobs(run));
    keep_for_gates(run, reports.back());
  }
  if (reports.empty()) return acceptance;
  acceptance.suite = reports.front().suite;
  acceptance.time_ns = reports.front().time_ns;
  for (const std::string& host : settings.hosts) {
    acceptance.hosts.emplace_back();
    acceptance.hosts.back().host = host;
  }
  auto metrics = observations(reports, settings.thresholds);
  set_resolutions(metrics, runs.front().plan, settings);
  // A golden profile is one more test that may fail a healthy host: share the error rate.
  AcceptanceSettings shared = settings;
  if (settings.golden) shared.level *= 0.5;
  const double golden_level = settings.level - shared.level;
  GateContext context{runs, reports, metrics, shared, acceptance,
                      {},   {},      names,   gpus,   golden_level};
  for (HostAcceptance& host : acceptance.hosts) context.hosts[host.host] = &host;
  add_machines(context);
  run_gates(context);
  acceptance.verdict = Verdict::pass;
  if (acceptance.hosts.empty()) acceptance.verdict = Verdict::inconclusive;
  for (HostAcceptance& host : acceptance.hosts) {
    conclude(host);
    acceptance.verdict = worse(acceptance.verdict, host.verdict);
  }
  for (const LinkAcceptance& link : acceptance.links)
    acceptance.verdict = worse(acceptance.verdict, link.reason.verdict);
  return acceptance;
}

double HostMetric::loss_at_most() const {
  const double end = loss + kOneSided * half;
  return std::isnan(end) ? end : std::max(0.0, end);
}

std::optional<double> promised_resolution(const Json& plan, const std::string& metric) {
  const Json& promised = field(field(plan, "acceptance"), "resolution");
  for (const char* name : {metric.c_str(), "default"})
    if (const double share = number_field(promised, name, 0.0); share > 0.0) return share;
  return {};
}

std::vector<std::string> open_cases(const HostAcceptance& host) {
  std::set<std::string> cases;
  if (host.verdict == Verdict::inconclusive)
    for (const Reason& reason : host.reasons)
      if (reason.more_runs) cases.insert(reason.case_name);
  return {cases.begin(), cases.end()};
}

}  // namespace bench

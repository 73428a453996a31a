#include "results/nightly/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/acceptance/metric_class.h"

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

}  // namespace bench

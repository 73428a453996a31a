#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "results/gauges.h"
#include "results/nightly/night.h"

namespace bench {
namespace {

void add_night(const Night& night, Gauges& gauges) {
  const GaugeLabels suite = {{"suite", night.suite}};
  gauges.add("benchctl_night_info",
             {{"suite", night.suite},
              {"run", night.run},
              {"verdict", std::string(to_string(verdict_of(night)))}},
             1.0);
  const std::vector<std::pair<const char*, double>> values = {
      {"benchctl_night_exit_code", static_cast<double>(exit_code_of(night))},
      {"benchctl_night_start_timestamp_seconds", static_cast<double>(night.time_ns) / 1e9},
      {"benchctl_night_duration_seconds", night.seconds},
      {"benchctl_night_budget_seconds", night.budget_s},
      {"benchctl_night_series_tested", static_cast<double>(night.tested)},
      {"benchctl_night_series_without_history", static_cast<double>(night.no_history)},
      {"benchctl_night_series_not_clean", static_cast<double>(night.not_clean)},
      {"benchctl_night_checks_left_out", static_cast<double>(night.skipped_checks.size())}};
  for (const auto& [name, value] : values) gauges.add(name, suite, value);
}

void add_host(const Night& night, const NightHost& host, Gauges& gauges) {
  const GaugeLabels labels = {{"suite", night.suite}, {"host", host.host}};
  gauges.add("benchctl_night_host_jobs", labels, static_cast<double>(host.planned));
  gauges.add("benchctl_night_host_jobs_ok", labels, static_cast<double>(host.ok));
  gauges.add("benchctl_night_host_age_seconds", labels, host.age_s);
}

void add_finding(const Night& night, const NightFinding& finding, Gauges& gauges) {
  const GaugeLabels labels = {{"suite", night.suite},
                              {"host", finding.host},
                              {"case", finding.case_name},
                              {"device", finding.device},
                              {"metric", finding.metric},
                              {"params", dump(finding.params)},
                              {"kind", std::string(to_string(finding.kind))},
                              {"state", std::string(to_string(finding.state))}};
  gauges.add("benchctl_night_finding", labels, 1.0);
  gauges.add("benchctl_night_finding_effect_ratio", labels, effect(finding));
}

/// A count for each kind and state, so that resolved findings return to 0.
void add_counts(const Night& night, Gauges& gauges) {
  using enum SuspicionState;
  using enum SuspicionKind;
  std::map<std::pair<SuspicionKind, SuspicionState>, double> counts;
  for (const SuspicionKind kind : {failed, wrong, slower, unchecked})
    for (const SuspicionState state : {confirmed, dropped, unsettled}) counts[{kind, state}] = 0.0;
  for (const NightFinding& finding : night.findings) ++counts[{finding.kind, finding.state}];
  for (const auto& [what, count] : counts)
    gauges.add("benchctl_night_findings",
               {{"suite", night.suite},
                {"kind", std::string(to_string(what.first))},
                {"state", std::string(to_string(what.second))}},
               count);
}

}  // namespace

std::string to_prometheus(const Night& night) {
  Gauges gauges;
  add_night(night, gauges);
  add_counts(night, gauges);
  for (const NightHost& host : night.hosts) add_host(night, host, gauges);
  for (const NightFinding& finding : night.findings) add_finding(night, finding, gauges);
  return gauges.text(
      {{"benchctl_night_info", "The night described by this file, with its verdict."},
       {"benchctl_night_exit_code",
        "0 no regression, 1 confirmed finding, 3 unsettled, unchecked or not measured, 4 "
        "environment, 130 interrupted."},
       {"benchctl_night_start_timestamp_seconds", "Start of the night, Unix time."},
       {"benchctl_night_duration_seconds", "Wall time of the night, including reruns and hooks."},
       {"benchctl_night_budget_seconds", "Time budget of the night."},
       {"benchctl_night_series_tested", "Series compared with their history."},
       {"benchctl_night_series_without_history", "Series without enough history for a verdict."},
       {"benchctl_night_series_not_clean", "Series disturbed by other work and not judged."},
       {"benchctl_night_checks_left_out", "Checks skipped for lack of time."},
       {"benchctl_night_findings", "Findings by kind and state."},
       {"benchctl_night_host_jobs", "Jobs planned on the host."},
       {"benchctl_night_host_jobs_ok", "Jobs on the host that succeeded."},
       {"benchctl_night_host_age_seconds",
        "Time since the last check of the host; absent if never."},
       {"benchctl_night_finding", "One finding, described by its labels."},
       {"benchctl_night_finding_effect_ratio", "Value divided by history, minus 1."}});
}

}  // namespace bench

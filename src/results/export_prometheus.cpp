#include "results/export_prometheus.h"

#include <map>
#include <string>

#include "core/json.h"
#include "results/gauges.h"

namespace bench {
namespace {

GaugeLabels labels_of(const RunSummary& report, const Series& series) {
  return {{"suite", report.suite},
          {"case", series.case_name},
          {"metric", series.metric},
          {"params", dump(series.params)},
          {"unit", std::string(to_string(series.unit))},
          {"better", std::string(to_string(series.better))},
          {"host", series.host},
          {"device", series.device},
          {"rank", std::to_string(series.rank)},
          {"repeat", std::to_string(series.repeat)}};
}

void add_result(const RunSummary& report, const Result& result, Gauges& gauges) {
  const Series& series = result.series;
  if (series.metric.empty()) return;
  const GaugeLabels labels = labels_of(report, series);
  const bool ok = series.outcome == Status::ok;
  gauges.add("benchctl_result_ok", labels, ok ? 1.0 : 0.0);
  if (!ok) return;  // an invalid value is omitted
  gauges.add("benchctl_result_value", labels, series.median);
  gauges.add("benchctl_result_low", labels, series.low);
  gauges.add("benchctl_result_high", labels, series.high);
  gauges.add("benchctl_result_limit_ratio", labels, series.of_limit);
  gauges.add("benchctl_result_clean_ratio", labels, clean_share(series));
}

void add_gate(const RunSummary& report, const GateResult& result, Gauges& gauges) {
  GaugeLabels labels = {{"suite", report.suite}, {"case", result.gate.case_name}};
  if (result.series) {
    labels = labels_of(report, report.results.at(*result.series).series);
  } else {
    labels.emplace_back("metric", result.gate.metric);
    labels.emplace_back("params", dump(result.gate.where));
  }
  labels.emplace_back(
      "gate", demand(result.gate,
                     result.series ? report.results[*result.series].series.unit : Unit::count));
  const double verdict = result.verdict == Verdict::pass ? 1.0 : 0.0;
  gauges.add("benchctl_gate_passed", labels, verdict);
  gauges.add("benchctl_gate_failed", labels, result.verdict == Verdict::fail ? 1.0 : 0.0);
}

void add_run(const RunSummary& report, Gauges& gauges) {
  const GaugeLabels suite = {{"suite", report.suite}};
  gauges.add("benchctl_run_info",
             {{"suite", report.suite},
              {"run", report.run},
              {"outcome", std::string(to_string(report.outcome))}},
             1.0);
  gauges.add("benchctl_run_exit_code", suite, static_cast<int>(report.exit_code));
  gauges.add("benchctl_run_finished", suite, report.finished ? 1.0 : 0.0);
  gauges.add("benchctl_run_start_timestamp_seconds", suite,
             static_cast<double>(report.time_ns) / 1e9);
  gauges.add("benchctl_run_duration_seconds", suite, report.seconds);
  std::map<std::string, double> jobs;
  for (const char* outcome : {"ok", "skipped", "invalid", "failed", "timed_out"}) jobs[outcome] = 0;
  for (const JobResult& job : report.jobs) ++jobs[std::string(to_string(job.outcome))];
  for (const auto& [outcome, count] : jobs)
    gauges.add("benchctl_run_jobs", {{"suite", report.suite}, {"outcome", outcome}}, count);
}

}  // namespace

std::string to_prometheus(const RunSummary& report) {
  Gauges gauges;
  add_run(report, gauges);
  for (const Result& result : report.results) add_result(report, result, gauges);
  for (const GateResult& gate : report.gates) add_gate(report, gate, gauges);
  return gauges.text(
      {{"benchctl_run_info", "Run described by this file, with its outcome."},
       {"benchctl_run_exit_code",
        "0 all passed, 1 a gate failed or a result is invalid, 3 not measured, 4 environment, 130 "
        "interrupted."},
       {"benchctl_run_finished", "1 if the run finished, else 0."},
       {"benchctl_run_start_timestamp_seconds", "Start of the run, seconds since the Unix epoch."},
       {"benchctl_run_duration_seconds", "Wall time of the run."},
       {"benchctl_run_jobs", "Jobs of the run by outcome."},
       {"benchctl_result_ok", "1 if the result is valid, else 0."},
       {"benchctl_result_value", "Median of the clean samples, in the base unit given by label unit."},
       {"benchctl_result_low", "Lower end of the 95 percent interval of the median."},
       {"benchctl_result_high", "Upper end of the 95 percent interval of the median."},
       {"benchctl_result_limit_ratio",
        "Value over limit, or limit over value where lower is better."},
       {"benchctl_result_clean_ratio", "Share of undisturbed samples."},
       {"benchctl_gate_passed", "1 if the gate passed; 0 if it failed or is inconclusive."},
       {"benchctl_gate_failed", "1 if the gate failed; 0 if it passed or is inconclusive."}});
}

}  // namespace bench

#include "results/output/run/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "core/fields.h"
#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/csv_cell.h"
#include "results/output/document/junit.h"
#include "results/output/run/result_json.h"
#include "results/run/gauges.h"

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
       {"benchctl_result_value",
        "Median of the clean samples, in the base unit given by label unit."},
       {"benchctl_result_low", "Lower end of the 95 percent interval of the median."},
       {"benchctl_result_high", "Upper end of the 95 percent interval of the median."},
       {"benchctl_result_limit_ratio",
        "Value over limit, or limit over value where lower is better."},
       {"benchctl_result_clean_ratio", "Share of undisturbed samples."},
       {"benchctl_gate_passed", "1 if the gate passed; 0 if it failed or is inconclusive."},
       {"benchctl_gate_failed", "1 if the gate failed; 0 if it passed or is inconclusive."}});
}

namespace {

JunitKind kind_of_outcome(Status status) {
  switch (status) {
    case Status::ok:
      return JunitKind::passed;
    case Status::skipped:
      return JunitKind::skipped;
    case Status::invalid:
      return JunitKind::failure;
    default:
      return JunitKind::error;
  }
}

JunitTest as_test(const RunSummary& report, const JobResult& job) {
  JunitTest test{report.suite + "." + job.job.case_name, job.job.id, job.seconds};
  const bool unjudged = job.not_run || !job.unclean.empty();
  test.kind = unjudged ? JunitKind::error : kind_of_outcome(job.outcome);
  test.why = fmt::format("{}: {}", to_string(job.outcome),
                         job.unclean.empty() ? job.reason : unclean_text(job));
  return test;
}

JunitTest as_test(const RunSummary& report, const GateResult& result) {
  const Series* series = result.series ? &report.results.at(*result.series).series : nullptr;
  JunitTest test{
      report.suite + "." + result.gate.case_name + ".gates",
      result.gate.metric + " " + demand(result.gate, series ? series->unit : Unit::count)};
  test.name += series ? fmt::format(" {} {} {}", dump(series->params), series->host, series->job)
                      : " " + dump(result.gate.where);
  if (result.verdict == Verdict::fail) test.kind = JunitKind::failure;
  if (result.verdict == Verdict::inconclusive)
    test.kind = result.judged || result.excused ? JunitKind::skipped : JunitKind::error;
  test.why = fmt::format("{}: {}", to_string(result.verdict), result.reason);
  return test;
}

}  // namespace

std::string to_junit(const RunSummary& report) {
  JunitSuite suite{report.suite, report.run, report.time_ns, report.seconds};
  for (const JobResult& job : report.jobs) suite.tests.push_back(as_test(report, job));
  for (const GateResult& gate : report.gates) suite.tests.push_back(as_test(report, gate));
  for (const std::string& damage : report.damage)
    suite.tests.push_back(
        {report.suite + ".run", "plan and records", 0.0, JunitKind::error, damage});
  return to_junit(suite);
}

namespace {

constexpr std::string_view kHeader =
    "run,time,host,device,metric,params,unit,better,value,median,n,clean,low,high,limit,of_limit,"
    "outcome,reason,verdict,limit_kind,min,p5,mean,std,p95,p99,max,unfiltered_median,suite,case,"
    "job,"
    "rank,ranks,repeat,over,of_limit_at_clock,cpu_busy_share,gpu_sm_clock_hz,gpu_power_w,"
    "gpu_temperature_c,gpu_power_capped_share";

/// The mean of the means over several GPUs; the highest temperature.
std::string telemetry_cells(const std::optional<SeriesTelemetry>& telemetry) {
  if (!telemetry) return ",,,,,";
  double clock = 0.0, power = 0.0, capped = 0.0, hottest = kNoValue;
  const auto count = static_cast<double>(telemetry->gpus.size());
  for (const GpuTelemetry& gpu : telemetry->gpus) {
    clock += gpu.sm_clock_hz.mean / count;
    power += gpu.power_w.mean / count;
    hottest = std::fmax(hottest, gpu.temperature_c);
    const auto cap = gpu.reasons.find("sw_power_cap");
    capped += (cap == gpu.reasons.end() ? 0.0 : cap->second) / count;
  }
  const auto known = [&](double value) { return count > 0.0 ? csv_number(value) : ""; };
  return "," + join({csv_number(telemetry->cpu_busy_share), known(clock), known(power),
                     known(hottest), known(capped)},
                    ",");
}

std::string row(const RunSummary& report, const Result& result) {
  const Series& s = result.series;
  const std::vector<std::string> cells = {
      csv_cell(report.run),
      format_time(s.time_ns),
      csv_cell(s.host),
      csv_cell(s.device),
      csv_cell(s.metric),
      csv_cell(dump(s.params)),
      std::string(to_string(s.unit)),
      std::string(to_string(s.better)),
      csv_number(s.median),
      csv_number(s.median),
      std::to_string(s.n),
      std::to_string(s.clean),
      csv_number(s.low),
      csv_number(s.high),
      s.limit ? csv_number(s.limit->value) : "",
      csv_number(s.of_limit),
      std::string(to_string(s.outcome)),
      csv_cell(s.reason),
      result.verdict ? std::string(to_string(*result.verdict)) : "",
      s.limit ? std::string(to_string(s.limit->kind)) : "",
      csv_number(s.min),
      csv_number(s.p5),
      csv_number(s.mean),
      csv_number(s.std),
      csv_number(s.p95),
      csv_number(s.p99),
      csv_number(s.max),
      csv_number(s.unfiltered_median),
      csv_cell(report.suite),
      csv_cell(s.case_name),
      csv_cell(s.job),
      std::to_string(s.rank),
      std::to_string(s.ranks),
      std::to_string(s.repeat),
      csv_cell(s.over),
      csv_number(s.of_limit_at_clock)};
  return join(cells, ",") + telemetry_cells(result.telemetry) + "\r\n";
}

void add_samples(const Samples& samples, Json& object) {
  object["values"] = Json::array();
  for (const double value : samples.values) object["values"].push_back(number_or_null(value));
  object["flags"] = samples.flags;
}

}  // namespace

std::vector<std::string> csv_columns() {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= kHeader.size();) {
    const std::size_t end = std::min(kHeader.find(',', at), kHeader.size());
    names.emplace_back(kHeader.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

std::string to_csv(const RunSummary& report) {
  std::string text = std::string(kHeader) + "\r\n";
  for (const Result& result : report.results)
    if (!result.series.metric.empty()) text += row(report, result);
  return text;
}

std::string to_jsonl(const RunSummary& report, const RunRecords* samples) {
  std::string text;
  for (const Result& result : report.results) {
    Json object = to_json(result);
    object["run"] = report.run;
    object["suite"] = report.suite;
    object["time"] =
        format_time(result.series.metric.empty() ? report.time_ns : result.series.time_ns);
    if (samples != nullptr && result.series.record)
      add_samples(std::get<Samples>(samples->records[*result.series.record].body), object);
    text += dump(object) + "\n";
  }
  return text;
}

}  // namespace bench

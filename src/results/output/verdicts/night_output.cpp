#include "results/output/verdicts/night_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/text.h"
#include "results/output/document/junit.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/run/gauges.h"
#include "results/verdicts/nightly/night.h"
#include "results/verdicts/nightly/past.h"

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

namespace {

// A night as JUnit: one test case per host, finding and skipped check.

JunitTest checks_of(const NightHost& host) {
  JunitTest test{"nightly." + host.host, "checks"};
  if (host.ok > 0) return test;
  test.kind = host.planned > 0 ? JunitKind::error : JunitKind::skipped;
  test.why = host.planned > 0 ? fmt::format("none of its {} jobs succeeded", host.planned)
                              : "no check was selected, or the host was busy";
  return test;
}

std::string title_of(const NightFinding& finding) {
  std::string title = finding.case_name.empty() ? "" : finding.case_name + ": ";
  title += finding.metric.empty() ? std::string(to_string(finding.kind)) : finding.metric;
  if (!finding.params.empty()) title += " " + dump(finding.params);
  return finding.device.empty() ? title : title + " " + finding.device;
}

JunitTest as_test(const NightFinding& finding, bool measured_only) {
  JunitTest test{"nightly." + finding.host, title_of(finding)};
  const Verdict verdict = verdict_of(finding, measured_only);
  if (verdict == Verdict::fail) test.kind = JunitKind::failure;
  if (verdict == Verdict::inconclusive) test.kind = JunitKind::error;
  test.why = fmt::format("{}: {}", to_string(finding.state), finding.text);
  if (!finding.next_step.empty()) test.why += "; " + finding.next_step;
  return test;
}

JunitTest as_test(const SkippedCheck& left) {
  const std::string what = left.case_name.empty() ? "all" : left.case_name;
  return {"nightly." + left.host, what + " (not checked)", 0.0, JunitKind::skipped, left.why};
}

}  // namespace

std::string to_junit(const Night& night) {
  JunitSuite suite{night.suite, night.run, night.time_ns, night.seconds};
  for (const NightHost& host : night.hosts) suite.tests.push_back(checks_of(host));
  for (const NightFinding& finding : night.findings)
    suite.tests.push_back(as_test(finding, night.measured_only));
  for (const SkippedCheck& left : night.skipped_checks) suite.tests.push_back(as_test(left));
  return to_junit(suite);
}

namespace {

std::string kind_of(const NightFinding& finding) {
  if (finding.state == SuspicionState::dropped) return "pass";
  return finding.state == SuspicionState::confirmed && finding.kind != SuspicionKind::unchecked
             ? "fail"
             : "inconclusive";
}

PageTable findings_table(const Night& night) {
  PageTable table{{"state", "kind", "host", "case", "metric", "effect", "p", "why", "next step"},
                  {}};
  for (const NightFinding& finding : night.findings) {
    const double share = effect(finding);
    table.rows.push_back({{std::string(to_string(finding.state)), kNoValue, kind_of(finding)},
                          {std::string(to_string(finding.kind))},
                          {finding.host},
                          {finding.case_name},
                          {finding.metric},
                          number_cell(share, fmt::format("{:+.1f} %", 100.0 * share)),
                          number_cell(finding.p, fmt::format("{:.2g}", finding.p)),
                          {finding.text},
                          {finding.next_step}});
  }
  return table;
}

PageTable hosts_table(const Night& night) {
  PageTable table{{"host", "jobs", "ok", "last check, days ago"}, {}};
  for (const NightHost& host : night.hosts)
    table.rows.push_back(
        {{host.host},
         number_cell(static_cast<double>(host.planned), std::to_string(host.planned)),
         number_cell(static_cast<double>(host.ok), std::to_string(host.ok)),
         std::isfinite(host.age_s)
             ? number_cell(host.age_s, fmt::format("{:.1f}", host.age_s / kDay_s))
             : PageCell{"never", kNoValue, ""}});
  return table;
}

PageTable skipped_table(const Night& night) {
  PageTable table{{"host", "case", "last check, days ago", "why"}, {}};
  for (const SkippedCheck& left : night.skipped_checks)
    table.rows.push_back({{left.host},
                          {left.case_name},
                          std::isfinite(left.age_s)
                              ? number_cell(left.age_s, fmt::format("{:.1f}", left.age_s / kDay_s))
                              : PageCell{"never", kNoValue, ""},
                          {left.why}});
  return table;
}

/// Rerun values of a finding with the expected value.
std::string plot_of(const NightFinding& finding) {
  Plot plot;
  plot.title = finding.host + ": " + finding.metric;
  plot.x_label = "rerun";
  plot.y_label = std::string(to_string(finding.unit));
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    PlotSeries series;
    series.name = name;
    series.mark = Mark::line_points;
    for (std::size_t i = 0; i < values.size(); ++i) {
      series.x.push_back(static_cast<double>(i + 1));
      series.y.push_back(values[i]);
    }
    if (!values.empty()) plot.series.push_back(std::move(series));
  };
  add(finding.host, finding.again);
  add(finding.peer, finding.peer_again);
  if (std::isfinite(finding.expected)) plot.rules.push_back({"history", finding.expected});
  if (std::isfinite(finding.value)) plot.rules.push_back({"this night", finding.value});
  return plot.series.empty() ? "" : to_svg(plot);
}

}  // namespace

std::string to_html(const Night& night) {
  Page page("Night " + night.run);
  page.text(
      fmt::format("{}: {}. {:.0f} s of {:.0f} s; {} series compared with their history, {} "
                  "without enough history, {} not clean.",
                  night.suite, to_string(verdict_of(night)), night.seconds, night.budget_s,
                  night.tested, night.no_history, night.not_clean));
  page.heading("Findings").table(findings_table(night));
  for (const NightFinding& finding : night.findings)
    if (finding.state != SuspicionState::dropped) page.figure(plot_of(finding), finding.text);
  page.heading("Hosts").table(hosts_table(night));
  if (!night.skipped_checks.empty())
    page.heading("Not checked, first in line next time").table(skipped_table(night));
  return page.html();
}

namespace {

constexpr std::size_t kMostSkipped = 10;

Paint paint_of_state(SuspicionState state) {
  if (state == SuspicionState::confirmed) return Paint::red;
  return state == SuspicionState::dropped ? Paint::dim : Paint::yellow;
}

std::string age_text(double age_s) {
  return std::isfinite(age_s) ? fmt::format("{:.1f} days ago", age_s / kDay_s) : "never";
}

std::string finding_params(const Json& params) {
  std::string text;
  for (const auto& [name, value] : params.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text_of(value));
  return text.empty() ? "" : " (" + text + ")";
}

std::string head_text(const Night& night, const TextStyle& style) {
  const Verdict verdict = verdict_of(night);
  const Paint colour = verdict == Verdict::pass   ? Paint::green
                       : verdict == Verdict::fail ? Paint::red
                                                  : Paint::yellow;
  std::size_t ok = 0, planned = 0;
  for (const NightHost& host : night.hosts) ok += host.ok, planned += host.planned;
  return fmt::format(
      "night {} ({}): {}\n{} of {} jobs ok on {} hosts, {:.0f} s of {:.0f} s; {} series compared "
      "with their history, {} without enough history, {} not clean\n",
      night.run.empty() ? "no run" : night.run, printable(night.suite),
      paint(to_string(verdict), colour, style), ok, planned, night.hosts.size(), night.seconds,
      night.budget_s, night.tested, night.no_history, night.not_clean);
}

std::string skipped_text(const Night& night) {
  if (night.skipped_checks.empty()) return "";
  std::string text = "\nnot checked tonight, first in line tomorrow:\n";
  for (std::size_t i = 0; i < std::min(kMostSkipped, night.skipped_checks.size()); ++i) {
    const SkippedCheck& left = night.skipped_checks[i];
    const std::string what = left.case_name.empty() ? "" : " " + left.case_name;
    text += printable(fmt::format("  {}{}: last checked {}; {}", left.host, what,
                                  age_text(left.age_s), left.why)) +
            "\n";
  }
  if (night.skipped_checks.size() > kMostSkipped)
    text += fmt::format("  and {} more (see --json)\n", night.skipped_checks.size() - kMostSkipped);
  return text;
}

std::string hooks_text(const Night& night) {
  std::string text;
  for (const HookCall& call : night.hooks)
    if (!call.trouble.empty())
      text += printable(fmt::format("hook {} for {}: {}", call.command, call.host, call.trouble)) +
              "\n";
  return text;
}

}  // namespace

std::string finding_line(const NightFinding& finding) {
  const std::string what =
      finding.metric.empty() ? finding.case_name : finding.metric + finding_params(finding.params);
  const double share = effect(finding);
  return fmt::format("{}{}{}{}", finding.host, what.empty() ? "" : "  " + what,
                     std::isfinite(share) ? fmt::format("  {:+.1f} %", 100.0 * share) : "",
                     std::isfinite(finding.p) ? fmt::format("  p={:.2g}", finding.p) : "");
}

std::string to_text(const Night& night, const TextStyle& style) {
  std::string text = head_text(night, style);
  if (!night.findings.empty()) text += "\n";
  for (const NightFinding& finding : night.findings) {
    const bool unchecked = finding.kind == SuspicionKind::unchecked;
    const std::string_view state = unchecked ? "unchecked" : to_string(finding.state);
    text += paint(fmt::format("{:<10}", state), paint_of_state(finding.state), style) +
            printable(finding_line(finding)) + "\n    " +
            wrap(printable(finding.text), 4, 4, style) + "\n";
    if (!finding.next_step.empty())
      text += "    " + wrap(printable("-> " + finding.next_step), 4, 7, style) + "\n";
  }
  return text + skipped_text(night) + hooks_text(night);
}

}  // namespace bench

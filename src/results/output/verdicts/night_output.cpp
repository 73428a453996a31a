#include "results/output/verdicts/night_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/order_statistics.h"
#include "core/text.h"
#include "results/output/document/dot_plot.h"
#include "results/output/document/junit.h"
#include "results/output/document/plot.h"
#include "results/run/dimensions.h"
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

/// A file of metrics is read long after it was written: it tells a time, not an age.
double checked_s(const Night& night, const NightHost& host) {
  const double begin = static_cast<double>(night.time_ns) / 1e9;
  return host.age_s <= night.seconds ? begin : begin - host.age_s;
}

void add_host(const Night& night, const NightHost& host, Gauges& gauges) {
  const GaugeLabels labels = {{"suite", night.suite}, {"host", host.host}};
  gauges.add("benchctl_night_host_jobs", labels, static_cast<double>(host.planned));
  gauges.add("benchctl_night_host_jobs_ok", labels, static_cast<double>(host.ok));
  gauges.add("benchctl_night_host_jobs_disturbed", labels, static_cast<double>(host.disturbed));
  gauges.add("benchctl_night_host_checked_timestamp_seconds", labels, checked_s(night, host));
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
  for (const SuspicionKind kind : {failed, wrong, slower, cpu_quota, unchecked})
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
       {"benchctl_night_host_jobs_disturbed", "Jobs on the host without clean samples."},
       {"benchctl_night_host_checked_timestamp_seconds",
        "When the host was last checked, Unix time; this night's start if in it, absent if never."},
       {"benchctl_night_finding", "One finding, described by its labels."},
       {"benchctl_night_finding_effect_ratio", "Value divided by history, minus 1."}});
}

namespace {

// A night as JUnit: one test case per host, finding and skipped check.

JunitTest checks_of(const NightHost& host) {
  JunitTest test{"nightly." + host.host, "checks"};
  if (host.ok > 0 && host.disturbed == 0) return test;
  test.kind = host.planned > 0 ? JunitKind::error : JunitKind::skipped;
  test.why = host.planned == 0 ? "no check was selected, or the host was busy"
             : host.ok == 0    ? fmt::format("none of its {} jobs succeeded", host.planned)
                            : fmt::format("{} of its {} jobs have no clean samples", host.disturbed,
                                          host.planned);
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
  if (night.tested == 0)
    suite.tests.push_back({"nightly", "series compared with their history", 0.0, JunitKind::error,
                           why_inconclusive(night)});
  for (const NightFinding& finding : night.findings)
    suite.tests.push_back(as_test(finding, night.measured_only));
  for (const SkippedCheck& left : night.skipped_checks) suite.tests.push_back(as_test(left));
  return to_junit(suite);
}

namespace {

Tone tone_of(const NightFinding& finding) {
  if (finding.state == SuspicionState::dropped) return Tone::good;
  return finding.state == SuspicionState::confirmed && finding.kind != SuspicionKind::unchecked
             ? Tone::bad
             : Tone::unsure;
}

DocumentTable findings_table(const Night& night) {
  DocumentTable table{{{"state", false},
                       {"kind", false},
                       {"host", false},
                       {"case", false, 2},
                       {"metric", false},
                       {"effect"},
                       {"p", true, 1}}};
  for (const NightFinding& finding : night.findings) {
    const double share = effect(finding);
    std::vector<StyledText>& notes = table.notes[table.rows.size()];
    notes.push_back(finding.text);
    if (!finding.next_step.empty()) notes.push_back("-> " + finding.next_step);
    table.rows.push_back({{.text = std::string(to_string(finding.state)), .tone = tone_of(finding)},
                          {std::string(to_string(finding.kind))},
                          {.text = finding.host, .tone = Tone::strong},
                          {finding.case_name},
                          {.text = finding.metric, .detail = dimension_list(finding.params)},
                          numeric(share, fmt::format("{:+.1f} %", 100.0 * share)),
                          numeric(finding.p, fmt::format("{:.2g}", finding.p))});
  }
  return table;
}

/// Days since the last check.
DocumentCell age_cell(double age_s) {
  return std::isfinite(age_s) ? numeric(age_s, fmt::format("{:.1f}", age_s / kDay_s))
                              : DocumentCell{"never"};
}

DocumentTable hosts_table(const Night& night) {
  DocumentTable table{{{"host", false}, {"jobs"}, {"ok"}, {"disturbed"}, {"last check, days ago"}}};
  for (const NightHost& host : night.hosts)
    table.rows.push_back({{host.host},
                          count_cell(host.planned),
                          count_cell(host.ok),
                          count_cell(host.disturbed),
                          age_cell(host.age_s)});
  return table;
}

DocumentTable skipped_table(const Night& night) {
  DocumentTable table{{{"host", false}, {"case", false}, {"last check, days ago"}, {"why", false}}};
  table.most = 10;
  for (const SkippedCheck& left : night.skipped_checks)
    table.rows.push_back({{left.host}, {left.case_name}, age_cell(left.age_s), {left.why}});
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

/// Relative change of tonight's value against the history; kNoValue without either.
double change_of(const NightTrend& trend) {
  return trend.past.empty() ? kNoValue : trend.value / median(trend.past) - 1.0;
}

/// The change in tolerances, whatever its direction; 0 if unknown.
double weight_of(const NightTrend& trend) {
  const double weight = std::abs(change_of(trend)) / trend.threshold;
  return std::isfinite(weight) ? weight : 0.0;
}

/// Series with a finding that was not dropped.
class FoundSeries {
 public:
  explicit FoundSeries(const Night& night) {
    for (const NightFinding& finding : night.findings)
      if (finding.state != SuspicionState::dropped && !finding.metric.empty())
        found_.insert({finding.host, finding.case_name, finding.metric, dump(finding.params)});
  }
  bool contains(const NightTrend& trend) const {
    return found_.contains({trend.host, trend.case_name, trend.metric, dump(trend.params)});
  }

 private:
  std::set<std::tuple<std::string, std::string, std::string, std::string>> found_;
};

std::string title_of(const NightTrend& trend) {
  return with_dimensions(trend.metric, trend.params);
}

/// Tonight against each host's own history; a row for each metric, those that changed most first.
std::string tonight_svg(const Night& night) {
  constexpr std::size_t kMostRows = 16;
  const FoundSeries found(night);
  std::map<std::string, DotRow> rows;
  std::map<std::string, double> weights;
  std::map<std::string, std::pair<std::string, Json>> metrics;
  for (const NightTrend& trend : night.trends) {
    const double change = change_of(trend);
    if (!std::isfinite(change)) continue;
    const std::string title = title_of(trend);
    DotRow& row = rows.try_emplace(title, DotRow{title, {}}).first->second;
    // Left is worse, whatever the direction of the metric.
    const double sign = trend.better == Better::lower ? -1.0 : 1.0;
    row.dots.push_back({trend.host, 100.0 * sign * change, found.contains(trend)});
    row.low = -100.0 * trend.threshold;
    row.high = 100.0 * trend.threshold;
    weights[title] = std::max(weights[title], weight_of(trend));
    metrics[title] = {trend.metric, trend.params};
  }
  DotPlot plot{
      "Each dot is a host", "tonight against the host's own history, % (left is worse)", {}};
  std::vector<std::pair<std::string, Json>> keys;
  for (const auto& [title, row] : rows) keys.push_back(metrics[title]);
  const std::vector<std::string> labels = short_names(keys);
  for (auto& [title, row] : rows) {
    row.label = labels[plot.rows.size()];
    plot.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(plot.rows, std::greater<>(),
                           [&](const DotRow& row) { return weights[row.name]; });
  if (plot.rows.size() > kMostRows) plot.rows.resize(kMostRows);
  return to_svg(plot);
}

/// The series of a host that changed most, over its runs.
std::string trend_svg(const std::string& host, std::vector<const NightTrend*> trends) {
  constexpr std::size_t kMostLines = 6;
  std::ranges::stable_sort(trends, std::greater<>(),
                           [](const NightTrend* trend) { return weight_of(*trend); });
  Plot plot{host, "runs, tonight at 0", "% of the history's median"};
  for (const NightTrend* trend : trends) {
    if (plot.series.size() == kMostLines) break;
    if (trend->past.size() < 2) continue;
    const double level = median(trend->past);
    PlotSeries line{.name = title_of(*trend), .x = {}, .y = {}, .mark = Mark::line_points};
    for (std::size_t i = 0; i < trend->past.size(); ++i) {
      line.x.push_back(static_cast<double>(i) - static_cast<double>(trend->past.size()));
      line.y.push_back(100.0 * trend->past[i] / level);
    }
    line.x.push_back(0.0);
    line.y.push_back(100.0 * trend->value / level);
    plot.series.push_back(std::move(line));
  }
  return plot.series.empty() ? "" : to_svg(plot);
}

/// A figure for each host, those with findings and changes first.
void add_trends(const Night& night, Document& document) {
  constexpr std::size_t kMostHosts = 24;
  const FoundSeries found(night);
  std::map<std::string, std::vector<const NightTrend*>> trends;
  std::map<std::string, std::pair<bool, double>> weights;  // found, change
  for (const NightTrend& trend : night.trends) {
    trends[trend.host].push_back(&trend);
    auto& [is_found, change] = weights[trend.host];
    is_found |= found.contains(trend);
    change = std::max(change, weight_of(trend));
  }
  std::vector<std::string> hosts;
  for (const auto& [host, list] : trends) hosts.push_back(host);
  std::ranges::stable_sort(hosts, std::greater<>(),
                           [&](const std::string& host) { return weights[host]; });
  document.add(Heading{"History of each host"}, Audience::page);
  for (std::size_t i = 0; i < std::min(hosts.size(), kMostHosts); ++i)
    document.add(Figure{trend_svg(hosts[i], trends[hosts[i]]),
                        "The metrics that changed most; 100 % is the median of earlier runs."});
  if (hosts.size() > kMostHosts)
    document.add(Paragraph{fmt::format("{} hosts with smaller changes are not drawn.",
                                       hosts.size() - kMostHosts)},
                 Audience::page);
}

/// "memory_bandwidth.bandwidth (threads 64)", or the case that failed.
std::string subject_of(const NightFinding& finding) {
  if (!finding.metric.empty()) return with_dimensions(finding.metric, finding.params);
  const std::string kind(to_string(finding.kind));
  return finding.case_name.empty() ? kind : finding.case_name + " " + kind;
}

/// Confirmed findings first.
ItemList main_findings(const Night& night) {
  constexpr std::size_t kMost = 3;
  ItemList list;
  std::size_t more = 0;
  for (const SuspicionState state : {SuspicionState::confirmed, SuspicionState::unsettled})
    for (const NightFinding& finding : night.findings) {
      if (finding.state != state) continue;
      if (list.items.size() == kMost) {
        ++more;
        continue;
      }
      const std::string word(finding.kind == SuspicionKind::unchecked ? to_string(finding.kind)
                                                                      : to_string(state));
      list.items.push_back({{{{word + ", ", tone_of(finding)},
                              {finding.host, Tone::strong},
                              {": " + subject_of(finding) + ": " + finding.text}}}});
    }
  if (const std::string why = why_inconclusive(night); !why.empty())
    list.items.push_back({"not judged: " + why});
  if (more > 0) list.items.push_back({{fmt::format("and {} more", more), Tone::faint}});
  return list;
}

std::string next_step_of(const Night& night) {
  for (const SuspicionState state : {SuspicionState::confirmed, SuspicionState::unsettled})
    for (const NightFinding& finding : night.findings)
      if (finding.state == state && !finding.next_step.empty())
        return finding.host + ": " + finding.next_step;
  if (night.tested == 0 && night.no_history > 0)
    return "repeat it: a series is judged once it has eight earlier runs";
  if (night.tested == 0 && night.not_clean > 0)
    return "run at a time when the hosts are idle: other work disturbed every series";
  return "";
}

/// Hosts with a finding that fails the night, and those unchecked for too long.
std::pair<std::size_t, std::size_t> hosts_found(const Night& night) {
  std::set<std::string> failed, unchecked;
  for (const NightFinding& finding : night.findings)
    if (finding.kind == SuspicionKind::unchecked)
      unchecked.insert(finding.host);
    else if (verdict_of(finding, night.measured_only) == Verdict::fail)
      failed.insert(finding.host);
  return {failed.size(), unchecked.size()};
}

Headline headline_of(const Night& night) {
  const Verdict verdict = verdict_of(night);
  const auto [confirmed, unchecked] = hosts_found(night);
  const std::size_t all = night.hosts.size();
  const std::string hosts =
      confirmed > 0 ? fmt::format("{} of {} hosts with a confirmed finding", confirmed, all)
                    : fmt::format("no confirmed finding on {} host{}", all, all == 1 ? "" : "s");
  const std::string open =
      unchecked > 0 ? fmt::format("; {} unchecked for too long", unchecked) : std::string();
  const std::string judged =
      night.tested > 0 ? fmt::format("{} series compared with their history", night.tested)
                       : std::string("nothing judged");
  // What was not reached has not passed.
  const bool cut = night.interrupted && verdict == Verdict::pass;
  return {cut ? "INTERRUPTED" : to_upper(to_string(verdict)), cut ? Tone::unsure : tone_of(verdict),
          hosts + open + "; " + judged, main_findings(night), next_step_of(night)};
}

Cards cards_of(const Night& night) {
  std::size_t ok = 0, planned = 0;
  for (const NightHost& host : night.hosts) ok += host.ok, planned += host.planned;
  return {
      {{"Jobs", fmt::format("{} of {}", ok, planned),
        fmt::format("on {} hosts", night.hosts.size()), ok < planned ? Tone::unsure : Tone::none},
       {"Series judged", std::to_string(night.tested),
        fmt::format("{} without history", night.no_history)},
       {"Disturbed", std::to_string(night.not_clean), "series, by other work",
        night.not_clean > 0 ? Tone::unsure : Tone::none},
       {"Time", fmt::format("{:.0f} s", night.seconds),
        night.budget_s > 0.0 ? fmt::format("of {:.0f} s", night.budget_s) : std::string()}}};
}

Paragraph summary(const Night& night) {
  std::size_t ok = 0, planned = 0;
  for (const NightHost& host : night.hosts) {
    ok += host.ok;
    planned += host.planned;
  }
  const std::string budget =
      night.budget_s > 0.0 ? fmt::format(" of {:.0f} s", night.budget_s) : std::string();
  return {fmt::format(
      "Night {} ({}): {} of {} jobs ok on {} hosts, {:.0f} s{}; {} series "
      "compared with their history, {} without enough history, {} not clean.",
      night.run.empty() ? "no run" : night.run, night.suite, ok, planned, night.hosts.size(),
      night.seconds, budget, night.tested, night.no_history, night.not_clean)};
}

}  // namespace

Document to_document(const Night& night) {
  Document document{.title = "Night " + night.run};
  document.add(headline_of(night)).add(cards_of(night), Audience::page);
  document.add(summary(night), Audience::terminal);
  if (std::string svg = tonight_svg(night); !svg.empty())
    document.add(Heading{"Tonight"}, Audience::page)
        .add(Figure{std::move(svg), "Grey: within the tolerance. Orange, with names: findings."});
  if (!night.findings.empty()) document.add(Heading{"Findings"}).add(findings_table(night));
  constexpr std::size_t kMostPlots = 60;
  std::size_t drawn = 0;
  for (const NightFinding& finding : night.findings)
    if (finding.state != SuspicionState::dropped && drawn++ < kMostPlots)
      document.add(Figure{plot_of(finding), finding.text});
  add_trends(night, document);
  document.add(Heading{"Hosts"}, Audience::page).add(hosts_table(night), Audience::page);
  if (!night.skipped_checks.empty())
    document.add(Heading{"Not checked tonight, first in line tomorrow"}).add(skipped_table(night));
  for (const HookCall& call : night.hooks)
    if (!call.trouble.empty())
      document.add(Note{fmt::format("hook {} for {}: {}", call.command, call.host, call.trouble),
                        "warning"});
  document.add(Heading{"Origin", true}, Audience::page).add(summary(night), Audience::page);
  return document;
}

}  // namespace bench

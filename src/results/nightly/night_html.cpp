#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/nightly/night.h"
#include "results/nightly/past.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"

namespace bench {
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

}  // namespace bench

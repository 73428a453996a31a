#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/acceptance/acceptance_output.h"
#include "results/fleet/fleet_output.h"
#include "results/fleet/fleet_plots.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"

namespace bench {
namespace {

constexpr std::size_t kMostFindings = 2000, kMostDistributions = 6;

PageCell verdict_cell(Verdict verdict) {
  return {in_capitals(verdict), kNoValue, std::string(to_string(verdict))};
}

PageCell count_cell(std::size_t count) {
  return {count == 0 ? "" : std::to_string(count), static_cast<double>(count)};
}

PageCell percent_cell(double share) {
  return number_cell(share, fmt::format("{:.2f} %", 100.0 * share));
}

PageCell value_cell(double value, Unit unit) { return number_cell(value, format(value, unit)); }

PageTable hosts_table(const FleetReport& report) {
  PageTable table{{"host", "verdict", "failed", "inconclusive", "passed", "checked", "expires",
                   "days failed", "repeat failures", "first reason"},
                  {}};
  for (const FleetHostReport& host : report.hosts)
    table.rows.push_back(
        {{host.host},
         verdict_cell(host.verdict),
         count_cell(host.failed),
         count_cell(host.inconclusive),
         count_cell(host.passed),
         {date_text(host.checked_ns)},
         {date_text(host.expires_ns), kNoValue, host.expired ? "expired" : ""},
         count_cell(host.incidents.size()),
         {host.repeat_failures ? "yes" : "", kNoValue, host.repeat_failures ? "fail" : ""},
         {host.reasons.empty() ? "" : host.reasons.front()}});
  return table;
}

PageTable series_table(const FleetReport& report) {
  PageTable table{{"metric", "host kind", "hosts", "median", "spread", "tolerance"}, {}};
  for (const FleetSeriesReport& series : report.series)
    table.rows.push_back({{metric_title(series.key)},
                          {series.key.kind},
                          count_cell(series.hosts),
                          value_cell(series.expected, series.unit),
                          percent_cell(series.noise),
                          percent_cell(series.threshold)});
  return table;
}

std::vector<const FleetRow*> findings_of(const FleetReport& report) {
  std::vector<const FleetRow*> findings;
  for (const FleetRow& row : report.rows)
    if (row.verdict != Verdict::pass) findings.push_back(&row);
  std::ranges::stable_sort(findings, [&](const FleetRow* a, const FleetRow* b) {
    if (a->verdict != b->verdict) return a->verdict == Verdict::fail;
    return relative_loss(report, *a) > relative_loss(report, *b);
  });
  return findings;
}

PageTable findings_table(const FleetReport& report, const std::vector<const FleetRow*>& findings) {
  PageTable table{{"host", "device", "metric", "verdict", "gate", "value", "peers", "loss", "z",
                   "runs", "next step"},
                  {}};
  for (std::size_t i = 0; i < findings.size() && i < kMostFindings; ++i) {
    const FleetRow& row = *findings[i];
    const FleetSeriesReport& series = report.series[row.series];
    table.rows.push_back({{row.host},
                          {row.device == "host" ? "" : row.device},
                          {metric_title(series.key)},
                          verdict_cell(row.verdict),
                          {row.gate},
                          value_cell(row.value, series.unit),
                          value_cell(row.expected, series.unit),
                          percent_cell(std::fmax(row.loss, row.golden_loss)),
                          number_cell(row.z, fmt::format("{:.1f}", row.z)),
                          count_cell(row.runs),
                          {row.next_step}});
  }
  return table;
}

void add_criteria(const FleetReport& report, Page& page) {
  const FleetProfile& learned = report.learned;
  page.heading("Learned criteria");
  page.text(
      fmt::format("{} criteria learned, {} rejected. Hosts whose similarity to the center is "
                  "below alpha are excluded.",
                  learned.entries.size(), learned.refused.size()));
  PageTable table{{"metric", "hosts", "excluded", "center", "alpha", "run-to-run spread",
                   "host spread", "rejected because"},
                  {}};
  for (const ProfileEntry& entry : learned.entries) {
    table.rows.push_back({{metric_title(entry.key)},
                          count_cell(entry.criterion.hosts),
                          count_cell(entry.criterion.excluded),
                          value_cell(entry.criterion.centre, entry.unit),
                          percent_cell(entry.criterion.alpha),
                          percent_cell(entry.criterion.run_noise),
                          percent_cell(entry.criterion.host_noise),
                          {}});
  }
  for (const auto& [key, why] : learned.refused)
    table.rows.push_back({{metric_title(key)}, {}, {}, {}, {}, {}, {}, {why}});
  page.table(table);
}

}  // namespace

std::string to_html(const FleetReport& report) {
  Page page("Fleet");
  page.text(format_time(report.time_ns) + ". " + summary_words(report) + ".");
  page.text(
      fmt::format("Verdicts expire {:g} days after the last measurement. False-alarm rate of a "
                  "healthy fleet: one report in {:.0f}.",
                  report.settings.valid_days, 1.0 / report.settings.level));
  for (const std::string& warning : report.warnings) page.note(warning);
  page.heading("Hosts").table(hosts_table(report));
  const auto findings = findings_of(report);
  if (!findings.empty()) {
    page.heading("Findings");
    if (findings.size() > kMostFindings)
      page.note(fmt::format("{} findings, the worst {} shown; see --json for all", findings.size(),
                            kMostFindings));
    page.table(findings_table(report, findings));
  }
  const auto order = worst_series(report);
  page.heading("Map");
  page.figure(to_svg(fleet_map(report, order)),
              "Orange: worse than peers; blue: better; grey: no value. One unit is the tolerance "
              "of the metric." +
                  (report.series.size() > kMostMapColumns
                       ? fmt::format(" Shown: the {} metrics with the worst hosts, of {}.",
                                     kMostMapColumns, report.series.size())
                       : std::string()));
  page.heading("Metrics").table(series_table(report));
  for (std::size_t i = 0; i < order.size() && i < kMostDistributions; ++i)
    page.figure(fleet_distribution(report, order[i]), "Distribution over hosts.");
  add_criteria(report, page);
  return page.html();
}

}  // namespace bench

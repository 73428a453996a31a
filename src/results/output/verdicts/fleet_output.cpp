#include "results/output/verdicts/fleet_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/text.h"
#include "core/time.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/document/text_style.h"
#include "results/output/verdicts/acceptance_output.h"
#include "results/run/dimensions.h"

namespace bench {
namespace {

constexpr double kMapReach = 3.0;  // practical thresholds

}  // namespace

std::vector<std::size_t> worst_series(const FleetReport& report) {
  std::vector<double> worst(report.series.size(), -std::numeric_limits<double>::infinity());
  for (const FleetRow& row : report.rows)
    worst[row.series] = std::fmax(worst[row.series], relative_loss(report, row));
  std::vector<std::size_t> order(worst.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return worst[a] > worst[b]; });
  return order;
}

/// Rows sorted by name, so that racks and switches show as blocks.
HeatMap fleet_map(const FleetReport& report, const std::vector<std::size_t>& order) {
  HeatMap map{
      "Hosts and devices against peers, in units of the tolerance", {}, {}, {}, 0.0, kMapReach};
  std::map<std::size_t, std::size_t> columns;
  for (const std::size_t series : order) {
    if (columns.size() == kMostMapColumns) break;
    columns.emplace(series, columns.size());
    map.columns.push_back(metric_title(report.series[series].key));
  }
  std::map<std::string, std::vector<double>> rows;
  for (const FleetRow& row : report.rows) {
    const auto column = columns.find(row.series);
    if (column == columns.end()) continue;
    const std::string name = row.device == "host" ? row.host : row.host + " " + row.device;
    auto& values = rows.try_emplace(name, columns.size(), kNoValue).first->second;
    values[column->second] = -relative_loss(report, row);
  }
  for (auto& [name, values] : rows) {
    map.rows.push_back(name);
    map.values.push_back(std::move(values));
  }
  return map;
}

std::string fleet_distribution(const FleetReport& report, std::size_t which) {
  const FleetSeriesReport& series = report.series[which];
  PlotSeries all{"share of hosts at or below this value", {}, {}, {}, {}, Mark::steps};
  PlotSeries failed{"failed", {}, {}, {}, {}, Mark::points};
  std::vector<const FleetRow*> rows;
  for (const FleetRow& row : report.rows)
    if (row.series == which && std::isfinite(row.value)) rows.push_back(&row);
  std::ranges::sort(rows, {}, [](const FleetRow* row) { return row->value; });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double share = static_cast<double>(i + 1) / static_cast<double>(rows.size());
    all.x.push_back(rows[i]->value);
    all.y.push_back(share);
    if (rows[i]->verdict != Verdict::fail) continue;
    failed.x.push_back(rows[i]->value);
    failed.y.push_back(share);
  }
  Plot plot{metric_title(series.key), std::string(to_string(series.unit)), "share of hosts"};
  const double sign = series.better == Better::lower ? 1.0 : -1.0;
  if (std::isfinite(series.expected)) {
    plot.rules.push_back({"median", series.expected, true});
    plot.rules.push_back({"matters", series.expected * (1.0 + sign * series.threshold), true});
  }
  plot.series.push_back(std::move(all));
  if (!failed.x.empty()) plot.series.push_back(std::move(failed));
  return to_svg(plot);
}

std::string summary_words(const FleetReport& report) {
  std::size_t passed = 0, failed = 0, repeating = 0, expired = 0;
  for (const FleetHostReport& host : report.hosts) {
    passed += host.verdict == Verdict::pass ? 1 : 0;
    failed += host.verdict == Verdict::fail ? 1 : 0;
    repeating += host.repeat_failures ? 1 : 0;
    expired += host.expired ? 1 : 0;
  }
  std::string text = fmt::format("{} hosts: {} pass, {} fail, {} inconclusive", report.hosts.size(),
                                 passed, failed, report.hosts.size() - passed - failed);
  if (expired > 0) text += fmt::format("; {} with expired verdicts", expired);
  if (repeating > 0) text += fmt::format("; {} with repeat failures", repeating);
  return text;
}

std::string incident_text(const FleetHostReport& host, const FleetSettings& settings) {
  if (host.incidents.empty()) return "";
  return fmt::format("failed on {} of the last {:g} days; p = {:.1g} at the other hosts' rate",
                     host.incidents.size(), settings.incident_days, host.repeat_p);
}

std::string date_text(std::int64_t time_ns) {
  return time_ns == 0 ? "" : format_time(time_ns).substr(0, 10);
}

double relative_loss(const FleetReport& report, const FleetRow& row) {
  const double lost = std::fmax(row.loss, row.golden_loss);
  return lost / report.series[row.series].threshold;
}

namespace {

constexpr std::size_t kMostHosts = 40, kMostReasonsOfHost = 4, kMostSeries = 30;

std::string host_text(const FleetReport& report, const FleetHostReport& host,
                      const TextStyle& style) {
  std::string text = paint(printable(host.host), Paint::bold, style) + "  " +
                     paint(in_capitals(host.verdict), paint_of(host.verdict), style);
  text += fmt::format("  checked {}, expires {}", date_text(host.checked_ns),
                      date_text(host.expires_ns));
  if (host.repeat_failures) text += "  " + paint("REPEAT FAILURES", Paint::red, style);
  text += "\n";
  if (const std::string words = incident_text(host, report.settings); !words.empty())
    text += "  " + wrap(words, 2, 4, style) + "\n";
  for (std::size_t i = 0; i < host.reasons.size() && i < kMostReasonsOfHost; ++i)
    text += "  " + wrap(printable(host.reasons[i]), 2, 4, style) + "\n";
  if (host.reasons.size() > kMostReasonsOfHost)
    text += fmt::format("  and {} more (see --json)\n", host.reasons.size() - kMostReasonsOfHost);
  return text;
}

std::string series_text(const FleetReport& report, const TextStyle& style) {
  Table table({{"metric", false},
               {"", false, 3},
               {"hosts"},
               {"median"},
               {"spread"},
               {"tolerance", true, 2},
               {"fail"}});
  std::vector<std::size_t> failed(report.series.size(), 0);
  for (const FleetRow& row : report.rows)
    if (row.verdict == Verdict::fail) ++failed[row.series];
  for (std::size_t i = 0; i < report.series.size() && i < kMostSeries; ++i) {
    const FleetSeriesReport& series = report.series[i];
    table.add({{printable(series.key.metric)},
               {printable(dimension_list(series.key.params))},
               {std::to_string(series.hosts)},
               {std::isfinite(series.expected) ? format(series.expected, series.unit) : ""},
               {std::isfinite(series.noise) ? fmt::format("{:.2g} %", 100.0 * series.noise) : ""},
               {fmt::format("{:g} %", 100.0 * series.threshold)},
               {failed[i] > 0 ? std::to_string(failed[i]) : "", Paint::red}});
  }
  std::string text = table.render(2, style);
  if (report.series.size() > kMostSeries)
    text += fmt::format("  and {} more (--json, --html)\n", report.series.size() - kMostSeries);
  return text;
}

std::string learned_text(const FleetReport& report, const TextStyle& style) {
  const FleetProfile& learned = report.learned;
  std::string text =
      fmt::format("Criteria: {} of {} learned (save them with --learn FILE)\n",
                  learned.entries.size(), learned.entries.size() + learned.refused.size());
  constexpr std::size_t kMost = 5;
  for (std::size_t i = 0; i < learned.refused.size() && i < kMost; ++i)
    text += "  " +
            wrap(printable(learned.refused[i].key.metric + ": " + learned.refused[i].why), 2, 4,
                 style) +
            "\n";
  if (learned.refused.size() > kMost)
    text += fmt::format("  and {} more not learned\n", learned.refused.size() - kMost);
  return text;
}

}  // namespace

std::string to_text(const FleetReport& report, const TextStyle& style) {
  if (report.rows.empty() && report.hosts.empty())
    return "No host was measured in that period. List stored runs with `benchctl runs`.\n";
  std::string text = paint("Fleet", Paint::bold, style) + "  " + format_time(report.time_ns) +
                     "  " + summary_words(report) + "\n" + series_text(report, style);
  std::size_t shown = 0, left = 0;
  for (const FleetHostReport& host : report.hosts) {
    if (host.verdict == Verdict::pass && !host.repeat_failures) continue;
    if (shown < kMostHosts && ++shown)
      text += host_text(report, host, style);
    else
      ++left;
  }
  if (left > 0) text += fmt::format("and {} more hosts (--json, --html)\n", left);
  text += learned_text(report, style);
  for (const std::string& warning : report.warnings)
    text += "warning: " + wrap(printable(warning), 9, 2, style) + "\n";
  return text;
}

namespace {

constexpr std::size_t kMostFindings = 2000, kMostDistributions = 6;

PageCell verdict_page_cell(Verdict verdict) {
  return {in_capitals(verdict), kNoValue, std::string(to_string(verdict))};
}

PageCell count_cell(std::size_t count) {
  return {count == 0 ? "" : std::to_string(count), static_cast<double>(count)};
}

PageCell share_page_cell(double share) {
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
         verdict_page_cell(host.verdict),
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
                          share_page_cell(series.noise),
                          share_page_cell(series.threshold)});
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
                          verdict_page_cell(row.verdict),
                          {row.gate},
                          value_cell(row.value, series.unit),
                          value_cell(row.expected, series.unit),
                          share_page_cell(std::fmax(row.loss, row.golden_loss)),
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
                          share_page_cell(entry.criterion.alpha),
                          share_page_cell(entry.criterion.run_noise),
                          share_page_cell(entry.criterion.host_noise),
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

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/acceptance/acceptance_output.h"
#include "results/fleet/fleet_output.h"
#include "results/reports/dimensions.h"
#include "results/reports/text_style.h"

namespace bench {
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

}  // namespace bench

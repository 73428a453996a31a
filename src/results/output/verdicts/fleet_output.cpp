#include "results/output/verdicts/fleet_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include "core/text.h"
#include "core/time.h"
#include "results/output/document/dot_plot.h"
#include "results/output/document/plot.h"
#include "results/run/dimensions.h"
#include "results/stats/peers.h"

namespace bench {
namespace {

/// "2026-11-20"; "" for 0.
std::string date_text(std::int64_t time_ns) {
  return time_ns == 0 ? "" : format_time(time_ns).substr(0, 10);
}

Json time_json(std::int64_t time_ns) { return time_ns == 0 ? Json() : Json(format_time(time_ns)); }

Json host_json(const FleetHostReport& host) {
  Json days = Json::array();
  for (const std::int64_t day : host.incidents)
    days.push_back(date_text(day * std::int64_t{86'400} * 1'000'000'000));
  return {{"host", host.host},
          {"verdict", to_string(host.verdict)},
          {"passed", host.passed},
          {"failed", host.failed},
          {"inconclusive", host.inconclusive},
          {"unresolved", host.unresolved},
          {"rare", host.rare},
          {"checked", time_json(host.checked_ns)},
          {"expires", time_json(host.expires_ns)},
          {"expired", host.expired},
          {"incidents", std::move(days)},
          {"lemon", host.repeat_failures},
          {"lemon_p", host.repeat_p},
          {"reasons", host.reasons}};
}

Json series_json(const FleetSeriesReport& series) {
  return {{"metric", series.key.metric},
          {"params", series.key.params},
          {"device", series.key.device},
          {"kind", series.key.kind},
          {"unit", std::string(to_string(series.unit))},
          {"better", std::string(to_string(series.better))},
          {"threshold", series.threshold},
          {"hosts", series.hosts},
          {"expected", series.expected},
          {"noise", series.noise},
          {"visible_loss", series.visible},
          {"unresolved", series.unresolved},
          {"rare", series.rare},
          {"judged", series.judged}};
}

Json row_json(const FleetReport& report, const FleetRow& row) {
  const FleetKey& key = report.series[row.series].key;
  return {{"host", row.host},
          {"device", row.device},
          {"metric", key.metric},
          {"params", key.params},
          {"runs", row.runs},
          {"value", row.value},
          {"expected", row.expected},
          {"loss", row.loss},
          {"half", row.half},
          {"z", row.z},
          {"golden_loss", row.golden_loss},
          {"last", time_json(row.last_ns)},
          {"verdict", to_string(row.verdict)},
          {"gate", row.gate},
          {"unresolved", row.unresolved},
          {"rare", row.rare},
          {"text", text_or_null(row.text)},
          {"settle", text_or_null(row.next_step)}};
}

}  // namespace

Json to_json(const FleetReport& report) {
  Json json = {{"verdict", to_string(report.verdict)},
               {"exit_code", static_cast<int>(report.exit_code)},
               {"time", format_time(report.time_ns)},
               {"valid_days", report.settings.valid_days},
               {"incident_days", report.settings.incident_days},
               {"level", report.settings.level},
               {"hosts", Json::array()},
               {"metrics", Json::array()},
               {"results", Json::array()},
               {"learned", to_json(report.learned)},
               {"warnings", report.warnings}};
  for (const FleetHostReport& host : report.hosts) json["hosts"].push_back(host_json(host));
  for (const FleetSeriesReport& series : report.series)
    json["metrics"].push_back(series_json(series));
  for (const FleetRow& row : report.rows) json["results"].push_back(row_json(report, row));
  return json;  // printed with NaN as null
}

namespace {

constexpr std::size_t kMostMapColumns = 40, kMostDistributions = 12, kMostFindings = 2000;
constexpr double kFleetMapReach = 3.0;  // tolerances

/// The loss against peers or profile, in tolerances; NaN for none.
double relative_loss(const FleetReport& report, const FleetRow& row) {
  const double lost = std::fmax(row.loss, row.golden_loss);
  return lost / report.series[row.series].threshold;
}

/// The series by their worst member, worst first: indices in report.series.
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

/// Of the series in this order, as short_names().
std::vector<std::string> labels_of(const FleetReport& report,
                                   const std::vector<std::size_t>& order) {
  std::vector<std::pair<std::string, Json>> keys;
  for (const std::size_t series : order)
    keys.emplace_back(report.series[series].key.metric, report.series[series].key.params);
  return short_names(keys);
}

/// Rows sorted by name, so that racks and switches show as blocks.
HeatMap fleet_map(const FleetReport& report, const std::vector<std::size_t>& order) {
  HeatMap map{"Hosts and devices against peers, in units of the tolerance",
              {},
              {},
              {},
              0.0,
              kFleetMapReach};
  std::map<std::size_t, std::size_t> columns;
  const std::vector<std::string> labels = labels_of(report, order);
  for (const std::size_t series : order) {
    if (columns.size() == kMostMapColumns) break;
    map.columns.push_back(labels[columns.size()]);
    columns.emplace(series, columns.size());
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

/// The series with the worst hosts, a row each; failed hosts are named.
std::string fleet_distribution(const FleetReport& report, const std::vector<std::size_t>& order) {
  DotPlot plot{
      "Each dot is a host or device", "against the median of its peers, % (left is worse)", {}};
  std::map<std::size_t, std::size_t> rows;  // series -> row
  for (const std::size_t series : order) {
    if (rows.size() == kMostDistributions) break;
    const FleetSeriesReport& one = report.series[series];
    rows.emplace(series, plot.rows.size());
    plot.rows.push_back({metric_title(one.key), {}, -100.0 * one.threshold, 100.0 * one.threshold});
  }
  const std::vector<std::string> labels = labels_of(report, order);
  for (std::size_t i = 0; i < plot.rows.size(); ++i) plot.rows[i].label = labels[i];
  for (const FleetRow& row : report.rows) {
    const auto place = rows.find(row.series);
    if (place == rows.end()) continue;
    const std::string name = row.device == "host" ? row.host : row.host + " " + row.device;
    plot.rows[place->second].dots.push_back(
        {name, -100.0 * row.loss, row.verdict == Verdict::fail});
  }
  return to_svg(plot);
}

/// Of which noise hides losses that the tolerance forbids, on some hosts or all.
std::size_t unresolved_metrics(const FleetReport& report) {
  return static_cast<std::size_t>(std::ranges::count_if(
      report.series, [](const FleetSeriesReport& series) { return series.unresolved > 0; }));
}

/// "1000 hosts: 940 pass, 12 fail, 48 inconclusive; 3 with repeat failures".
std::string summary_words(const FleetReport& report) {
  const auto count = [&]<typename Value>(Value value, Value FleetHostReport::*field) {
    return std::ranges::count(report.hosts, value, field);
  };
  const auto expired = count(true, &FleetHostReport::expired);
  const auto repeating = count(true, &FleetHostReport::repeat_failures);
  std::string text = fmt::format("{} hosts: {} pass, {} fail, {} inconclusive", report.hosts.size(),
                                 count(Verdict::pass, &FleetHostReport::verdict),
                                 count(Verdict::fail, &FleetHostReport::verdict),
                                 count(Verdict::inconclusive, &FleetHostReport::verdict));
  if (expired > 0) text += fmt::format("; {} with expired verdicts", expired);
  if (repeating > 0) text += fmt::format("; {} with repeat failures", repeating);
  if (const std::size_t open = unresolved_metrics(report); open > 0)
    text += fmt::format("; {} of {} metrics not resolved", open, report.series.size());
  if (const auto rare = std::ranges::count(report.series, true, &FleetSeriesReport::rare); rare > 0)
    text += fmt::format("; {} measured too rarely", rare);
  return text;
}

std::string incident_words(const FleetHostReport& host, const FleetSettings& settings) {
  if (host.incidents.empty()) return "";
  return fmt::format("failed on {} of the last {:g} days; p = {:.1g} at the other hosts' rate",
                     host.incidents.size(), settings.incident_days, host.repeat_p);
}

bool needs_attention(const FleetHostReport& host) {
  return host.verdict != Verdict::pass || host.repeat_failures;
}

/// A reason that all hosts of several share; "" for none. It is said once, of the fleet.
std::string common_reason(const FleetReport& report) {
  if (report.hosts.size() < 2 || report.hosts.front().reasons.empty()) return "";
  for (const std::string& reason : report.hosts.front().reasons)
    if (std::ranges::all_of(report.hosts, [&](const FleetHostReport& host) {
          return std::ranges::find(host.reasons, reason) != host.reasons.end();
        }))
      return reason;
  return "";
}

std::vector<StyledText> host_notes(const FleetReport& report, const FleetHostReport& host,
                                   const std::string& said) {
  constexpr std::size_t kMostReasons = 4;
  std::vector<StyledText> notes;
  if (const std::string words = incident_words(host, report.settings); !words.empty())
    notes.push_back(words);
  std::vector<std::string> reasons = host.reasons;
  std::erase(reasons, said);
  const std::size_t shown = std::min(kMostReasons, reasons.size());
  notes.insert(notes.end(), reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(shown));
  if (reasons.size() > shown)
    notes.push_back(fmt::format("and {} more, listed by --json", reasons.size() - shown));
  return notes;
}

/// A count; empty for none.
DocumentCell some(std::size_t count) {
  return count == 0 ? DocumentCell{"", 0.0} : count_cell(count);
}

/// Hosts that need attention come first; the terminal shows only these.
DocumentTable hosts_table(const FleetReport& report) {
  constexpr std::size_t kMostHosts = 40;
  DocumentTable table{{{"host", false},
                       {"verdict", false},
                       {"failed"},
                       {"inconclusive"},
                       {"passed"},
                       {"not resolved", true, 1},
                       {"checked", false, 2},
                       {"expires", false, 3},
                       {"days failed", true, 1},
                       {"repeat failures", false}}};
  std::vector<const FleetHostReport*> hosts;
  for (const FleetHostReport& host : report.hosts) hosts.push_back(&host);
  const auto passed = std::ranges::stable_partition(
      hosts, [](const FleetHostReport* host) { return needs_attention(*host); });
  table.most = std::min(kMostHosts, hosts.size() - passed.size());
  const std::string said = common_reason(report);
  for (const FleetHostReport* host : hosts) {
    if (auto notes = host_notes(report, *host, said); !notes.empty())
      table.notes[table.rows.size()] = std::move(notes);
    table.rows.push_back(
        {{.text = host->host, .tone = Tone::strong},
         verdict_cell(host->verdict),
         some(host->failed),
         some(host->inconclusive),
         some(host->passed),
         some(host->unresolved),
         {date_text(host->checked_ns)},
         {.text = date_text(host->expires_ns), .tone = host->expired ? Tone::unsure : Tone::none},
         some(host->incidents.size()),
         {.text = host->repeat_failures ? "yes" : "", .tone = Tone::bad}});
  }
  return table;
}

std::vector<const FleetRow*> findings_of(const FleetReport& report) {
  std::vector<const FleetRow*> findings;
  for (const FleetRow& row : report.rows)
    if (row.verdict != Verdict::pass && !row.alone && !row.unresolved && !row.rare)
      findings.push_back(&row);
  std::ranges::stable_sort(findings, [&](const FleetRow* a, const FleetRow* b) {
    if (a->verdict != b->verdict) return a->verdict == Verdict::fail;
    return relative_loss(report, *a) > relative_loss(report, *b);
  });
  return findings;
}

DocumentTable findings_table(const FleetReport& report,
                             const std::vector<const FleetRow*>& findings) {
  DocumentTable table{{{"host", false},
                       {"device", false},
                       {"metric", false},
                       {"verdict", false},
                       {"gate", false},
                       {"value"},
                       {"peers"},
                       {"loss"},
                       {"z"},
                       {"runs"},
                       {"next step", false}}};
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
                          share_cell(std::fmax(row.loss, row.golden_loss), 2),
                          numeric(row.z, fmt::format("{:.1f}", row.z)),
                          some(row.runs),
                          {row.next_step}});
  }
  return table;
}

DocumentTable series_table(const FleetReport& report) {
  DocumentTable table{{{"metric", false},
                       {"host kind", false, kPageOnly},
                       {"hosts"},
                       {"median"},
                       {"spread"},
                       {"tolerance", true, 2},
                       {"visible loss", true, 3},
                       {"fail"}}};
  table.most = 30;
  std::vector<std::size_t> failed(report.series.size(), 0);
  for (const FleetRow& row : report.rows)
    if (row.verdict == Verdict::fail) ++failed[row.series];
  for (std::size_t i = 0; i < report.series.size(); ++i) {
    const FleetSeriesReport& series = report.series[i];
    DocumentCell fails = some(failed[i]);
    fails.tone = Tone::bad;
    table.rows.push_back({{metric_title(series.key)},
                          {series.key.kind},
                          count_cell(series.hosts),
                          value_cell(series.expected, series.unit),
                          share_cell(series.noise, 2),
                          share_cell(series.threshold, 2),
                          share_cell(series.visible, 2),
                          std::move(fails)});
  }
  return table;
}

std::string unresolved_words(const FleetSeriesReport& series) {
  const std::string where =
      fmt::format("{}: on {} of {} {}", metric_title(series.key), series.unresolved, series.hosts,
                  series.key.device == "host" ? "hosts" : "devices");
  if (series.visible > series.threshold)
    return where + fmt::format(", losses below {} cannot be seen; {} should be",
                               share_text(series.visible), share_text(series.threshold));
  return where + fmt::format(", runs differ so much that a loss of {} is not excluded",
                             share_text(series.threshold));
}

/// What noise hides, by metric; it says nothing about any host.
void add_unresolved(const FleetReport& report, Document& document) {
  std::vector<const FleetSeriesReport*> open;
  for (const FleetSeriesReport& series : report.series)
    if (series.unresolved > 0) open.push_back(&series);
  if (open.empty()) return;
  std::ranges::stable_sort(open, std::greater<>(), &FleetSeriesReport::unresolved);
  ItemList list{.items = {}, .most = 4};
  for (const FleetSeriesReport* series : open) list.items.push_back({unresolved_words(*series)});
  document.add(Heading{"Not resolved here"})
      .add(Paragraph{"Hosts and runs differ too much in these metrics for their tolerances. More "
                     "runs on idle hosts narrow this down."})
      .add(std::move(list));
}

/// Metrics with a history on few hosts; they say nothing about the others.
void add_rare(const FleetReport& report, Document& document) {
  ItemList list{.items = {}, .most = 4};
  for (const FleetSeriesReport& series : report.series)
    if (series.rare) list.items.push_back({metric_title(series.key)});
  if (list.items.empty()) return;
  document.add(Heading{"Measured too rarely"})
      .add(Paragraph{
          fmt::format("Fewer than half of the hosts have {} runs of these metrics, for example "
                      "after a single acceptance. They count against no host until then.",
                      report.settings.fewest_runs)})
      .add(std::move(list));
}

void add_criteria(const FleetReport& report, Document& document) {
  const FleetProfile& learned = report.learned;
  document.add(Heading{"Learned criteria", true});
  document.add(Paragraph{
      fmt::format("{} of {} learned; save them with --learn FILE. Hosts whose similarity to the "
                  "center is below alpha are excluded.",
                  learned.entries.size(), learned.entries.size() + learned.refused.size())});
  ItemList rejected{.items = {}, .most = 5};
  for (const auto& [key, why] : learned.refused)
    rejected.items.push_back({metric_title(key) + ": rejected, " + why});
  document.add(std::move(rejected));
  DocumentTable table{{{"metric", false},
                       {"hosts"},
                       {"excluded"},
                       {"center"},
                       {"alpha"},
                       {"run-to-run spread"},
                       {"host spread"}}};
  for (const ProfileEntry& entry : learned.entries)
    table.rows.push_back({{metric_title(entry.key)},
                          count_cell(entry.criterion.hosts),
                          some(entry.criterion.excluded),
                          value_cell(entry.criterion.centre, entry.unit),
                          share_cell(entry.criterion.alpha, 2),
                          share_cell(entry.criterion.run_noise, 2),
                          share_cell(entry.criterion.host_noise, 2)});
  document.add(std::move(table), Audience::page);
}

void add_findings(const FleetReport& report, Document& document) {
  const auto findings = findings_of(report);
  if (findings.empty()) return;
  document.add(Heading{"Findings"}, Audience::page);
  if (findings.size() > kMostFindings)
    document.add(Note{fmt::format("{} findings, the worst {} shown; see --json for all",
                                  findings.size(), kMostFindings)},
                 Audience::page);
  document.add(findings_table(report, findings), Audience::page);
}

void add_figures(const FleetReport& report, const std::vector<std::size_t>& order,
                 Document& document) {
  std::string caption =
      "Orange: worse than peers; blue: better; grey: no value, or alike. One unit is the tolerance "
      "of the metric.";
  if (report.series.size() > kMostMapColumns)
    caption += fmt::format(" Shown: the {} metrics with the worst hosts, of {}.", kMostMapColumns,
                           report.series.size());
  document.add(Heading{"Hosts compared"}, Audience::page);
  document.add(Figure{fleet_distribution(report, order),
                      "Grey: within the tolerance. Orange, with names: failed in this metric."});
  document.add(Heading{"Map"}, Audience::page);
  document.add(Figure{to_svg(fleet_map(report, order)), caption});
}

/// Hosts that fail, most failures first, then those that fail again and again.
ItemList worst_hosts(const FleetReport& report) {
  constexpr std::size_t kWorst = 3;
  std::vector<const FleetHostReport*> hosts;
  for (const FleetHostReport& host : report.hosts)
    if (host.verdict == Verdict::fail || host.repeat_failures) hosts.push_back(&host);
  std::ranges::stable_sort(hosts, std::greater<>(), &FleetHostReport::failed);
  ItemList list;
  for (std::size_t i = 0; i < std::min(kWorst, hosts.size()); ++i) {
    const FleetHostReport& host = *hosts[i];
    const std::string why = host.reasons.empty() ? std::string("repeat failures: ") +
                                                       incident_words(host, report.settings)
                                                 : host.reasons.front();
    list.items.push_back({{{{host.host + ": ", Tone::strong}, {why}}}});
  }
  if (hosts.size() > kWorst)
    list.items.push_back({{fmt::format("and {} more", hosts.size() - kWorst), Tone::faint}});
  return list;
}

Headline headline_of(const FleetReport& report) {
  Headline headline{to_upper(to_string(report.verdict)), tone_of(report.verdict),
                    summary_words(report), worst_hosts(report)};
  if (const std::string reason = common_reason(report); !reason.empty())
    headline.reasons.items.push_back({"all hosts: " + reason});
  if (report.verdict == Verdict::fail)
    headline.next_step = "run benchctl accept on the failed hosts; drain those that fail again";
  else if (report.verdict == Verdict::inconclusive)
    headline.next_step = "measure the open hosts again while they are idle (benchctl nightly)";
  return headline;
}

Cards cards_of(const FleetReport& report) {
  const auto card = [&](const char* label, Verdict verdict, Tone tone) {
    const auto count = std::ranges::count(report.hosts, verdict, &FleetHostReport::verdict);
    return SummaryCard{label, std::to_string(count),
                       fmt::format("of {} hosts", report.hosts.size()),
                       count > 0 ? tone : Tone::none};
  };
  Cards cards{{card("Passed", Verdict::pass, Tone::good), card("Failed", Verdict::fail, Tone::bad),
               card("Open", Verdict::inconclusive, Tone::unsure)}};
  const std::size_t open = unresolved_metrics(report);
  cards.cards.push_back({"Metrics", std::to_string(report.series.size()),
                         open > 0 ? fmt::format("{} not resolved", open)
                                  : fmt::format("{} results", report.rows.size())});
  return cards;
}

}  // namespace

Document to_document(const FleetReport& report) {
  Document document{.title = "Fleet"};
  if (report.rows.empty() && report.hosts.empty())
    return document.add(
        Paragraph{"No host was measured in that period. List stored runs with `benchctl runs`."});
  document.add(headline_of(report)).add(cards_of(report), Audience::page);
  for (const std::string& warning : report.warnings) document.add(Note{warning, "warning"});
  const auto order = worst_series(report);
  add_figures(report, order, document);
  DocumentTable hosts = hosts_table(report);
  const Audience audience = hosts.most > 0 ? Audience::all : Audience::page;
  document.add(Heading{"Hosts"}, audience).add(std::move(hosts), audience);
  add_findings(report, document);
  add_unresolved(report, document);
  add_rare(report, document);
  if (!report.series.empty()) document.add(Heading{"Metrics"}).add(series_table(report));
  add_criteria(report, document);
  document.add(Heading{"Method", true}, Audience::page)
      .add(Paragraph{fmt::format(
               "{}. Verdicts expire {:g} days after the last measurement. False-alarm rate of a "
               "healthy fleet: one report in {:.0f}.",
               format_time(report.time_ns), report.settings.valid_days,
               1.0 / report.settings.level)},
           Audience::page);
  return document;
}

}  // namespace bench

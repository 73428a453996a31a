#include "results/output/verdicts/host_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/order_statistics.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/plot.h"
#include "results/run/dimensions.h"
#include "results/run/metric_catalogue.h"

namespace bench {
namespace {

/// Of the earlier points; NaN with fewer than two.
double usual_value(const SeriesHistory& series) {
  std::vector<double> earlier;
  for (std::size_t i = 0; i + 1 < series.points.size(); ++i)
    earlier.push_back(series.points[i].value);
  return earlier.size() < 2 ? kNoValue : median(earlier);
}

double newest_change(const SeriesHistory& series) {
  return series.points.empty() ? kNoValue : series.points.back().value / usual_value(series) - 1.0;
}

/// The newest change in tolerances; 0 if unknown.
double weight_of(const SeriesHistory& series) {
  const double weight =
      std::abs(newest_change(series)) / practical_threshold(series.key.metric).value_or(1.0);
  return std::isfinite(weight) ? weight : 0.0;
}

std::string title_of(const SeriesHistory& series) {
  const std::string device = series.key.device == "host" ? "" : " on " + series.key.device;
  return with_dimensions(series.key.metric, series.key.params) + device;
}

/// Series of one metric, the one that changed most first.
using SeriesOfMetric = std::vector<const SeriesHistory*>;

std::vector<SeriesOfMetric> by_metric(const std::vector<SeriesHistory>& histories) {
  std::map<std::string, SeriesOfMetric> metrics;
  for (const SeriesHistory& series : histories)
    if (series.key.better != Better::none && series.points.size() > 1)
      metrics[series.key.metric].push_back(&series);
  std::vector<SeriesOfMetric> list;
  for (auto& [metric, series] : metrics) {
    std::ranges::stable_sort(series, std::greater<>(),
                             [](const SeriesHistory* one) { return weight_of(*one); });
    list.push_back(std::move(series));
  }
  std::ranges::stable_sort(list, std::greater<>(),
                           [](const SeriesOfMetric& series) { return weight_of(*series.front()); });
  return list;
}

std::string history_svg(const SeriesOfMetric& metric) {
  constexpr std::size_t kMostLines = 4;
  constexpr double kDay = 86'400e9;
  const SeriesHistory& first = *metric.front();
  Plot plot{.title = first.key.metric,
            .x_label = "days before the newest value",
            .y_label = std::string(to_string(first.key.unit))};
  std::int64_t newest = 0;
  for (const SeriesHistory* series : metric)
    newest = std::max(newest, series->points.back().time_ns);
  for (const SeriesHistory* series : metric) {
    if (plot.series.size() == kMostLines) break;
    if (series->key.unit != first.key.unit) continue;
    PlotSeries line{.name = title_of(*series), .x = {}, .y = {}, .mark = Mark::line_points};
    for (const Point& point : series->points) {
      line.x.push_back(static_cast<double>(point.time_ns - newest) / kDay);
      line.y.push_back(point.value);
      line.low.push_back(point.low);
      line.high.push_back(point.high);
    }
    plot.series.push_back(std::move(line));
  }
  return to_svg(plot);
}

DocumentTable metrics_table(const HostPage& page) {
  DocumentTable table{{{"metric", false},
                       {"newest"},
                       {"of limit"},
                       {"usual"},
                       {"change"},
                       {"tolerance"},
                       {"runs"},
                       {"measured", false}}};
  for (const SeriesHistory& series : page.histories) {
    if (series.points.empty()) continue;
    const Point& newest = series.points.back();
    const double change = newest_change(series);
    table.rows.push_back({{.text = series.key.metric, .detail = dimension_list(series.key.params)},
                          value_cell(newest.value, series.key.unit),
                          share_cell(newest.of_limit),
                          value_cell(usual_value(series), series.key.unit),
                          numeric(change, fmt::format("{:+.1f} %", 100.0 * change)),
                          share_cell(practical_threshold(series.key.metric).value_or(kNoValue)),
                          count_cell(series.points.size()),
                          {format_time(newest.time_ns).substr(0, 10)}});
  }
  return table;
}

Headline headline_of(const HostPage& page) {
  if (page.fleet == nullptr)
    return {"NOT JUDGED",
            Tone::unsure,
            "no measurement in the last 90 days, or too few peers",
            {},
            "measure at least four hosts of its kind (benchctl accept, or benchctl nightly)"};
  const FleetHostReport& host = *page.fleet;
  Headline headline{to_upper(to_string(host.verdict)), tone_of(host.verdict),
                    fmt::format("against its peers: {} metrics pass, {} fail, {} are open",
                                host.passed, host.failed, host.inconclusive)};
  constexpr std::size_t kMost = 3;
  for (std::size_t i = 0; i < std::min(kMost, host.reasons.size()); ++i)
    headline.reasons.items.push_back({host.reasons[i]});
  return headline;
}

}  // namespace

Document to_document(const HostPage& page) {
  constexpr std::size_t kMostPlots = 16;
  Document document{.title = page.host};
  document.add(headline_of(page));
  Cards cards{{{"Runs", std::to_string(page.runs.size())},
               {"Series", std::to_string(page.histories.size())}}};
  if (!page.runs.empty())
    cards.cards.push_back({"Last run", format_time(page.runs.front().time_ns).substr(0, 10),
                           page.runs.front().suite});
  document.add(std::move(cards)).add(Heading{"History"});
  const auto metrics = by_metric(page.histories);
  for (std::size_t i = 0; i < std::min(kMostPlots, metrics.size()); ++i)
    document.add(Figure{history_svg(metrics[i]),
                        "The series that changed most in the newest run; bars: 95 % intervals."});
  document.add(Heading{"Metrics"}).add(metrics_table(page));
  DocumentTable runs{{{"run", false}, {"verdict", false}, {"suite", false}, {"date", false}}};
  for (const HostPage::Run& run : page.runs)
    runs.rows.push_back({{.text = run.id, .link = run.address},
                         run.verdict,
                         {run.suite},
                         {format_time(run.time_ns).substr(0, 10)}});
  return document.add(Heading{"Runs"}).add(std::move(runs));
}

}  // namespace bench

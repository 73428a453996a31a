#include "results/fleet/fleet_plots.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "results/fleet/fleet_output.h"

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

}  // namespace bench

// Comparison as a self-contained page: a sortable table of all metrics, and a plot of all changes
// with intervals.
#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/compare/compare_output.h"
#include "results/compare/efficiency_text.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"

namespace bench {
namespace {

constexpr std::size_t kDrawnMetrics = 200;

PageCell sorted_cell(const std::string& text, double sort) { return {text, sort, ""}; }

PageCell ratio_cell(double ratio) {
  return sorted_cell(std::isfinite(ratio) ? fmt::format("{:.4g}", ratio) : "", ratio);
}

PageCell percent_cell(double share) {
  return sorted_cell(std::isfinite(share) ? fmt::format("{:.1f} %", 100.0 * share) : "", share);
}

PageTable metrics_page_table(const Comparison& comparison) {
  PageTable table{{"metric", "params", "A", "B", "B vs. A", "n", "q", "verdict", "why",
                   "A of limit", "B of limit", "per watt", "per GPU", "per dollar", "cause"},
                  {}};
  for (const ComparedMetric& metric : comparison.metrics)
    table.rows.push_back(
        {{metric.key.metric},
         {params_text(metric.params)},
         sorted_cell(format(metric.a.value, metric.key.unit), metric.a.value),
         sorted_cell(format(metric.b.value, metric.key.unit), metric.b.value),
         sorted_cell(change_text(metric.ratio, metric.low, metric.high), metric.ratio),
         {metric.basis == Basis::pairs ? fmt::format("{} pairs", metric.pairs)
                                       : fmt::format("{}, {}", metric.a.n, metric.b.n)},
         sorted_cell(std::isfinite(metric.q) ? fmt::format("{:.2g}", metric.q) : "", metric.q),
         {std::string(to_string(metric.verdict)), kNoValue, badge_of(metric.verdict)},
         {metric.why},
         percent_cell(metric.a.of_limit),
         percent_cell(metric.b.of_limit),
         ratio_cell(metric.per_watt),
         ratio_cell(metric.per_gpu),
         ratio_cell(metric.per_dollar),
         {metric.cause}});
  return table;
}

/// Each metric a point with its interval, in the order of the table.
Plot changes_plot(const Comparison& comparison) {
  Plot plot{.title = "B vs. A, with 95 % confidence intervals",
            .x_label = "metric, in table order",
            .y_label = "B / A",
            .log_y = true};
  PlotSeries series{.name = "", .x = {}, .y = {}, .mark = Mark::points};
  for (const ComparedMetric& metric : comparison.metrics) {
    if (series.x.size() >= kDrawnMetrics) break;
    if (!(metric.ratio > 0.0)) continue;
    series.x.push_back(static_cast<double>(series.x.size() + 1));
    series.y.push_back(metric.ratio);
    series.low.push_back(metric.low > 0.0 ? metric.low : metric.ratio);
    series.high.push_back(metric.high > 0.0 ? metric.high : metric.ratio);
  }
  if (series.x.empty()) return {};
  plot.series.push_back(std::move(series));
  plot.rules.push_back({"no change", 1.0});
  return plot;
}

PageTable facts_page_table(const Comparison& comparison) {
  PageTable table{{"fact", "A", "B", "hosts or devices"}, {}};
  for (const auto& [change, units] : comparison.facts)
    table.rows.push_back({{change.fact},
                          {change.before},
                          {change.after},
                          sorted_cell(std::to_string(units), static_cast<double>(units))});
  return table;
}

}  // namespace

std::string badge_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::regressed:
      return "fail";
    case ChangeVerdict::improved:
    case ChangeVerdict::equivalent:
      return "pass";
    default:
      return "inconclusive";
  }
}

std::string to_html(const Comparison& comparison) {
  Page page("Comparison");
  page.text(fmt::format("A: {} ({} runs). B: {} ({} runs).", comparison.a, comparison.runs_a,
                        comparison.b, comparison.runs_b));
  if (!comparison.hardware_a.empty() || !comparison.hardware_b.empty())
    page.text("Hardware: " + comparison.hardware_a + " in A, " + comparison.hardware_b + " in B.");
  if (comparison.price_a && comparison.price_b)
    page.text(fmt::format("Price in dollars per device-hour: {:.4g} in A, {:.4g} in B.",
                          *comparison.price_a, *comparison.price_b));
  for (const std::string& warning : comparison.warnings) page.note(warning);
  const Plot plot = changes_plot(comparison);
  if (!plot.series.empty())
    page.figure(to_svg(plot), "All intervals, the first " + std::to_string(kDrawnMetrics) +
                                  " metrics of the table");
  page.heading("Metrics").table(metrics_page_table(comparison));
  if (!comparison.facts.empty()) page.heading("Changed facts").table(facts_page_table(comparison));
  for (const auto& [title, list] :
       {std::pair{"Only in A", &comparison.only_a}, std::pair{"Only in B", &comparison.only_b}}) {
    if (list->empty()) continue;
    PageTable table{{"metric"}, {}};
    for (const std::string& one : *list) table.rows.push_back({{one}});
    page.heading(title).table(table);
  }
  return page.html();
}

}  // namespace bench

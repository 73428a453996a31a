#include "results/output/verdicts/ladder_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/text.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/verdicts/compare_output.h"

namespace bench {

std::string speed_up_text(const SpeedUp& speed_up) {
  if (!std::isfinite(speed_up.ratio)) return "";
  if (!std::isfinite(speed_up.low)) return fmt::format("x {:.3f}", speed_up.ratio);
  return fmt::format("x {:.3f} [{:.3f}, {:.3f}]", speed_up.ratio, speed_up.low, speed_up.high);
}

std::string changes_text(const std::vector<FactChange>& changes, std::size_t shown) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(shown, changes.size()); ++i)
    parts.push_back(
        fmt::format("{}: {} to {}", changes[i].fact, changes[i].before, changes[i].after));
  if (changes.size() > shown) parts.push_back(fmt::format("and {} more", changes.size() - shown));
  return join(parts, "; ");
}

std::string ladder_title(const LadderMetric& metric) {
  const std::string params = params_text(metric.params);
  return metric.key.metric + (params.empty() ? "" : ", " + params);
}

namespace {

// Ladder as a self-contained page: a plot and a table per metric.

constexpr std::size_t kDrawnLadders = 50;
constexpr std::size_t kChangesOnPage = 40;

PageCell dollars_cell(double dollars) {
  return number_cell(dollars, fmt::format("{:.4g}", dollars));
}

std::vector<PageCell> step_row(const LadderMetric& metric, std::size_t number) {
  const LadderStep& step = metric.steps[number];
  const double place = static_cast<double>(number + 1);
  const auto verdict = number == 0 ? PageCell{}
                                   : PageCell{std::string(to_string(step.individual.verdict)),
                                              kNoValue, badge_of(step.individual.verdict)};
  return {{std::to_string(number + 1), place},
          {step.name},
          {format(step.value, metric.key.unit), step.value},
          {step.ranks == 0 ? "" : std::to_string(step.ranks), static_cast<double>(step.ranks)},
          {speed_up_text(step.individual), step.individual.ratio},
          {speed_up_text(step.cumulative), step.cumulative.ratio},
          {std::isfinite(step.time_s) ? format(Seconds{step.time_s}) : "", step.time_s},
          dollars_cell(step.price),
          dollars_cell(step.cost),
          {std::isfinite(step.relative_cost) ? fmt::format("x {:.3g}", step.relative_cost) : "",
           step.relative_cost},
          verdict,
          {step.individual.why},
          {changes_text(step.changed, kChangesOnPage)}};
}

PageTable steps_table(const LadderMetric& metric) {
  PageTable table{{"step", "name", "value", "ranks", "this step", "cumulative", "time",
                   "dollars per hour", "dollars", "cost", "verdict", "why", "changed facts"},
                  {}};
  for (std::size_t i = 0; i < metric.steps.size(); ++i) table.rows.push_back(step_row(metric, i));
  return table;
}

/// A ratio without an interval gets one of no width.
void add_point(double x, const SpeedUp& speed_up, PlotSeries& series) {
  if (!(speed_up.ratio > 0.0)) return;
  const bool known = speed_up.low > 0.0 && speed_up.high > 0.0;
  series.x.push_back(x);
  series.y.push_back(speed_up.ratio);
  series.low.push_back(known ? speed_up.low : speed_up.ratio);
  series.high.push_back(known ? speed_up.high : speed_up.ratio);
}

std::string ladder_drawing(const LadderMetric& metric) {
  PlotSeries all{"cumulative", {1.0}, {1.0}, {1.0}, {1.0}, Mark::line_points};
  PlotSeries each{"this step", {}, {}, {}, {}, Mark::points};
  for (std::size_t i = 1; i < metric.steps.size(); ++i) {
    const double x = static_cast<double>(i + 1);
    add_point(x, metric.steps[i].cumulative, all);
    add_point(x, metric.steps[i].individual, each);
  }
  if (each.x.empty()) return "";
  return to_svg(Plot{.title = ladder_title(metric),
                     .x_label = "step",
                     .y_label = "speedup",
                     .log_y = true,
                     .series = {std::move(all), std::move(each)},
                     .rules = {{"first step", 1.0}}});
}

std::string names_of_steps(const LadderMetric& metric) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < metric.steps.size(); ++i)
    names.push_back(fmt::format("{}: {}", i + 1, metric.steps[i].name));
  return join(names, "; ");
}

}  // namespace

std::string to_html(const Ladder& ladder) {
  Page page("Ladder");
  page.text(
      "Speedup of each step over the previous step and over the first; above 1 is faster. Cost is "
      "devices x time, relative to the first step. Confidence intervals are 95 %.");
  for (const std::string& warning : ladder.warnings) page.note(warning);
  for (std::size_t i = 0; i < ladder.metrics.size(); ++i) {
    const LadderMetric& metric = ladder.metrics[i];
    page.heading(ladder_title(metric));
    if (i < kDrawnLadders) page.figure(ladder_drawing(metric), names_of_steps(metric));
    page.table(steps_table(metric));
  }
  return page.html();
}

namespace {

constexpr std::size_t kShownChanges = 6;

Json speed_up_json(const SpeedUp& speed_up) {
  if (!std::isfinite(speed_up.ratio)) return nullptr;
  return {{"ratio", number_or_null(speed_up.ratio)},
          {"low", number_or_null(speed_up.low)},
          {"high", number_or_null(speed_up.high)},
          {"verdict", to_string(speed_up.verdict)},
          {"why", text_or_null(speed_up.why)}};
}

Json step_json(const LadderStep& step) {
  Json changed = Json::array();
  for (const FactChange& change : step.changed) changed.push_back(to_json(change));
  return {{"name", step.name},
          {"value", number_or_null(step.value)},
          {"ranks", step.ranks == 0 ? Json() : Json(step.ranks)},
          {"price", number_or_null(step.price)},
          {"individual", speed_up_json(step.individual)},
          {"cumulative", speed_up_json(step.cumulative)},
          {"time_s", number_or_null(step.time_s)},
          {"cost", number_or_null(step.cost)},
          {"relative_cost", number_or_null(step.relative_cost)},
          {"changed", std::move(changed)}};
}

std::string metric_text(const LadderMetric& metric, const TextStyle& style) {
  std::string text = paint(printable(ladder_title(metric)), Paint::bold, style) + "\n";
  Table table({{.title = "step", .right = false},
               {.title = "value"},
               {.title = "ranks", .drop = 3},
               {.title = "this step"},
               {.title = "cumulative"},
               {.title = "dollars"},
               {.title = "cost", .drop = 2},
               {.title = "verdict", .right = false}});
  for (const LadderStep& step : metric.steps) {
    const bool first = &step == &metric.steps.front();
    table.add(
        {{printable(step.name)},
         {format(step.value, metric.key.unit)},
         {step.ranks == 0 ? "" : std::to_string(step.ranks)},
         {speed_up_text(step.individual)},
         {speed_up_text(step.cumulative)},
         {std::isfinite(step.cost) ? fmt::format("{:.4g}", step.cost) : ""},
         {std::isfinite(step.relative_cost) ? fmt::format("x {:.3g}", step.relative_cost) : ""},
         {first ? "" : std::string(to_string(step.individual.verdict))}});
    if (!step.individual.why.empty()) table.note(printable(step.individual.why), Paint::dim);
    if (!step.changed.empty())
      table.note(printable(changes_text(step.changed, kShownChanges)), Paint::dim);
  }
  return text + table.render(2, style);
}

}  // namespace

std::string to_text(const Ladder& ladder, const TextStyle& style) {
  std::string text;
  for (const LadderMetric& metric : ladder.metrics) text += metric_text(metric, style) + "\n";
  for (const std::string& warning : ladder.warnings)
    text += paint(wrap("warning: " + warning, 0, 2, style), Paint::yellow, style) + "\n";
  return text +
         wrap("Speedup: above 1 is faster. cost: devices x time, relative to the first step.", 0, 0,
              style) +
         "\n";
}

Json to_json(const Ladder& ladder) {
  Json metrics = Json::array();
  for (const LadderMetric& metric : ladder.metrics) {
    Json steps = Json::array();
    for (const LadderStep& step : metric.steps) steps.push_back(step_json(step));
    metrics.push_back({{"metric", metric.key.metric},
                       {"params", metric.params},
                       {"device", metric.key.device},
                       {"unit", to_string(metric.key.unit)},
                       {"better", to_string(metric.key.better)},
                       {"steps", std::move(steps)}});
  }
  return {{"ladder", std::move(metrics)},
          {"warnings", ladder.warnings},
          {"exit_code", static_cast<int>(ladder.exit_code())}};
}

}  // namespace bench

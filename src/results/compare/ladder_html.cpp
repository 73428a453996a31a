// Ladder as a self-contained page: a plot and a table per metric.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/compare/compare_output.h"
#include "results/compare/ladder_output.h"
#include "results/compare/ladder_words.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"

namespace bench {
namespace {

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
      "Speedup of each step over the previous step and over the first; above 1 is faster. Cost is devices x time, relative to the first step. Confidence intervals are 95 %.");
  for (const std::string& warning : ladder.warnings) page.note(warning);
  for (std::size_t i = 0; i < ladder.metrics.size(); ++i) {
    const LadderMetric& metric = ladder.metrics[i];
    page.heading(ladder_title(metric));
    if (i < kDrawnLadders) page.figure(ladder_drawing(metric), names_of_steps(metric));
    page.table(steps_table(metric));
  }
  return page.html();
}

}  // namespace bench

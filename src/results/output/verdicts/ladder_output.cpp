#include "results/output/verdicts/ladder_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/fields.h"
#include "core/text.h"
#include "results/output/document/plot.h"
#include "results/output/verdicts/compare_output.h"

namespace bench {
namespace {

constexpr std::size_t kDrawnLadders = 50;
constexpr std::size_t kChangesOnPage = 40, kChangesInTerminal = 6;

/// "x 1.234 [1.2, 1.3]"
DocumentCell speed_up_cell(const SpeedUp& speed_up) {
  return numeric(speed_up.ratio, std::isfinite(speed_up.low)
                                     ? fmt::format("x {:.3f} [{:.3f}, {:.3f}]", speed_up.ratio,
                                                   speed_up.low, speed_up.high)
                                     : fmt::format("x {:.3f}", speed_up.ratio));
}

DocumentCell dollars_cell(double dollars) {
  return numeric(dollars, fmt::format("{:.4g}", dollars));
}

DocumentCell judged_cell(const SpeedUp& speed_up) {
  return {.text = std::string(to_string(speed_up.verdict)), .tone = tone_of(speed_up.verdict)};
}

/// "driver: 550 to 560; and 3 more": at most `shown` of them.
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

DocumentTable steps_table(const LadderMetric& metric, std::size_t shown_changes) {
  DocumentTable table{{{"step"},
                       {"name", false},
                       {"value"},
                       {"ranks", true, 3},
                       {"this step"},
                       {"cumulative"},
                       {"time", true, kPageOnly},
                       {"dollars per hour", true, kPageOnly},
                       {"dollars"},
                       {"cost", true, 2},
                       {"verdict", false}}};
  for (std::size_t i = 0; i < metric.steps.size(); ++i) {
    const LadderStep& step = metric.steps[i];
    for (std::string note : {step.individual.why, changes_text(step.changed, shown_changes)})
      if (!note.empty()) table.notes[i].emplace_back(std::move(note), Tone::faint);
    table.rows.push_back(
        {count_cell(i + 1),
         {step.name},
         value_cell(step.value, metric.key.unit),
         step.ranks == 0 ? DocumentCell{} : count_cell(static_cast<std::size_t>(step.ranks)),
         speed_up_cell(step.individual),
         speed_up_cell(step.cumulative),
         value_cell(step.time_s, Unit::second),
         dollars_cell(step.price),
         dollars_cell(step.cost),
         numeric(step.relative_cost, fmt::format("x {:.3g}", step.relative_cost)),
         i == 0 ? DocumentCell{} : judged_cell(step.individual)});
  }
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

/// The speedup of the last step over the first, metric by metric.
Headline headline_of(const Ladder& ladder) {
  constexpr std::size_t kMost = 3;
  const ExitCode code = ladder.exit_code();
  Headline headline{code == ExitCode::ok ? "MEASURED" : "NOT JUDGED", tone_of(code),
                    fmt::format("{} metric{} compared step by step", ladder.metrics.size(),
                                ladder.metrics.size() == 1 ? "" : "s")};
  for (const LadderMetric& metric : ladder.metrics) {
    if (headline.reasons.items.size() == kMost) break;
    if (metric.steps.empty()) continue;
    headline.reasons.items.push_back(
        {fmt::format("{}: {} after {} steps", ladder_title(metric),
                     speed_up_cell(metric.steps.back().cumulative).text, metric.steps.size())});
  }
  return headline;
}

}  // namespace

Document to_document(const Ladder& ladder) {
  Document document{.title = "Ladder"};
  document.add(headline_of(ladder), Audience::page);
  document.add(Paragraph{
      "Speedup of each step over the previous step and over the first; above 1 is faster. Cost is "
      "devices x time, relative to the first step. Confidence intervals are 95 %."});
  for (std::size_t i = 0; i < ladder.metrics.size(); ++i) {
    const LadderMetric& metric = ladder.metrics[i];
    document.add(Heading{ladder_title(metric)});
    if (i < kDrawnLadders) document.add(Figure{ladder_drawing(metric), names_of_steps(metric)});
    document.add(steps_table(metric, kChangesInTerminal), Audience::terminal);
    document.add(steps_table(metric, kChangesOnPage), Audience::page);
  }
  for (const std::string& warning : ladder.warnings) document.add(Note{warning, "warning"});
  return document;
}

namespace {

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

}  // namespace

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

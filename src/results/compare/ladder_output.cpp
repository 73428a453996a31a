#include <fmt/format.h>

#include <cmath>

#include "core/fields.h"
#include "core/text.h"
#include "results/compare/ladder_output.h"
#include "results/compare/ladder_words.h"

namespace bench {
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
         wrap(
             "Speedup: above 1 is faster. cost: devices x time, relative to the first step.",
             0, 0, style) +
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

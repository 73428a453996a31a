#include "results/output/verdicts/compare_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/text.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"

namespace bench {
namespace {

std::string share_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100.0 * share) : "";
}

std::string factor_text(double factor) {
  return std::isfinite(factor) ? fmt::format("x {:.3g}", factor) : "";
}

}  // namespace

std::string efficiency_text(const Comparison& comparison, const TextStyle& style) {
  const bool priced = std::ranges::any_of(comparison.metrics, [](const ComparedMetric& metric) {
    return std::isfinite(metric.per_dollar);
  });
  if (comparison.hardware_a == comparison.hardware_b && !priced) return "";
  const auto resources = resource_ratios(comparison);
  Table table({{.title = "metric", .right = false},
               {.title = "params", .right = false, .drop = 1},
               {.title = "bound by", .right = false},
               {.title = "A of limit"},
               {.title = "B of limit"},
               {.title = "work"},
               {.title = "per watt"},
               {.title = "per GPU"},
               {.title = "per dollar"}});
  for (const ComparedMetric& metric : comparison.metrics) {
    const double ratio = work_ratio(metric);
    if (!std::isfinite(ratio)) continue;
    std::string bound_by(to_string(metric.resource));
    if (metric.resource == Resource::workload)
      if (const std::string from = follows(ratio, resources); !from.empty())
        bound_by += " (scales with " + from + ")";
    table.add({{printable(metric.key.metric)},
               {printable(params_text(metric.params))},
               {bound_by},
               {share_text(metric.a.of_limit)},
               {share_text(metric.b.of_limit)},
               {factor_text(ratio)},
               {factor_text(metric.per_watt)},
               {factor_text(metric.per_gpu)},
               {factor_text(metric.per_dollar)}});
  }
  std::string text = table.render(2, style);
  for (const ResourceRatio& one : resources)
    text += fmt::format("  {:<10} x {:.3g}, geometric mean of the {} rows above\n",
                        to_string(one.resource), one.ratio, one.metrics);
  return text;
}

namespace {

constexpr double kAsFactor = 0.25;  // larger changes read better as factors

}  // namespace

std::string params_text(const Json& params) {
  std::vector<std::string> parts;
  if (!params.is_object()) return "";
  for (const auto& [name, value] : params.items()) {
    if (value.is_string())
      parts.push_back(value.get<std::string>());
    else if (!value.is_boolean())
      parts.push_back(name + " " + text_of(value));
    else if (value.get<bool>())
      parts.push_back(name);
  }
  return join(parts, ", ");
}

std::string change_text(double ratio, double low, double high) {
  if (!std::isfinite(ratio)) return "n/a";
  const bool factor = std::abs(ratio - 1.0) > kAsFactor;
  const bool interval = std::isfinite(low) && std::isfinite(high);
  if (factor)
    return fmt::format("x {:.3g}", ratio) +
           (interval ? fmt::format(" [{:.3g}, {:.3g}]", low, high) : "");
  const auto percent = [](double one) { return 100.0 * (one - 1.0); };
  return fmt::format("{:+.2f} %", percent(ratio)) +
         (interval ? fmt::format(" [{:+.2f}, {:+.2f}]", percent(low), percent(high)) : "");
}

namespace {

// Comparison as a self-contained page: a sortable table of all metrics, and a plot of all changes
// with intervals.

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

namespace {

constexpr std::size_t kShownFacts = 12;
constexpr std::size_t kShownOnly = 6;

Paint colour_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::regressed:
      return Paint::red;
    case ChangeVerdict::improved:
      return Paint::green;
    case ChangeVerdict::equivalent:
      return Paint::none;
    default:
      return Paint::yellow;
  }
}

std::string capitals(ChangeVerdict verdict) {
  std::string word(to_string(verdict));
  for (char& c : word) c = static_cast<char>(c - 'a' + 'A');
  return word;
}

/// Long lists of parameters would push the numbers out of the table; the JSON has all.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 44;
  if (code_points(text) <= kMost) return text;
  std::string kept = text.substr(0, kMost - 3);
  while (!kept.empty() && (static_cast<unsigned char>(kept.back()) & 0x80) != 0) kept.pop_back();
  return kept + "...";
}

std::string n_text(const ComparedMetric& metric) {
  if (metric.basis == Basis::pairs) return fmt::format("{} pairs", metric.pairs);
  return fmt::format("{}, {}", metric.a.n, metric.b.n);
}

std::string note_of(const ComparedMetric& metric) {
  std::vector<std::string> notes;
  if (!metric.why.empty()) notes.push_back(metric.why);
  if (std::isfinite(metric.mean_low))
    notes.push_back("by means, assuming Gaussian noise: " +
                    change_text(metric.ratio, metric.mean_low, metric.mean_high));
  if (metric.n_needed)
    notes.push_back(fmt::format("needs {} {}", *metric.n_needed,
                                metric.basis == Basis::pairs ? "pairs" : "runs per side"));
  if (metric.cause == "clock")
    notes.push_back("explained by the clock: per cycle " +
                    change_text(metric.per_cycle, metric.per_cycle_low, metric.per_cycle_high));
  else if (!metric.cause.empty())
    notes.push_back(metric.cause + ": per cycle " +
                    change_text(metric.per_cycle, metric.per_cycle_low, metric.per_cycle_high));
  for (const FactChange& change : metric.changed_settings)
    notes.push_back(fmt::format("{}: {} in A, {} in B", change.fact, change.before, change.after));
  return join(notes, "; ");
}

std::string metrics_table(const Comparison& comparison, const TextStyle& style, bool all) {
  Table table({{.title = "metric", .right = false},
               {.title = "params", .right = false, .drop = 1},
               {.title = "A", .drop = 3},
               {.title = "B", .drop = 3},
               {.title = "B vs. A"},
               {.title = "n", .drop = 2},
               {.title = "q", .drop = 4},
               {.title = "verdict", .right = false}});
  std::size_t rows = 0;
  for (const ComparedMetric& metric : comparison.metrics) {
    if (metric.verdict == ChangeVerdict::equivalent && !all) continue;
    ++rows;
    table.add({{printable(metric.key.metric)},
               {shortened(printable(params_text(metric.params)))},
               {format(metric.a.value, metric.key.unit)},
               {format(metric.b.value, metric.key.unit)},
               {change_text(metric.ratio, metric.low, metric.high)},
               {n_text(metric)},
               {std::isfinite(metric.q) ? fmt::format("{:.2g}", metric.q) : ""},
               {capitals(metric.verdict), colour_of(metric.verdict)}});
    const std::string note = note_of(metric);
    if (!note.empty()) table.note(printable(note), Paint::dim);
  }
  return rows == 0 ? "" : table.render(2, style);
}

std::string labelled_line(const std::string& label, const std::string& text,
                          const TextStyle& style) {
  constexpr std::size_t kWide = 14;
  return "  " + paint(fmt::format("{:<12}", label), Paint::dim, style) +
         wrap(printable(text), kWide, kWide, style) + "\n";
}

std::string facts_text(const Comparison& comparison, const TextStyle& style) {
  std::string text;
  for (std::size_t i = 0; i < std::min(comparison.facts.size(), kShownFacts); ++i) {
    const auto& [change, units] = comparison.facts[i];
    text += labelled_line(
        i == 0 ? "changed" : "",
        fmt::format("{}: {} in A, {} in B{}", change.fact, change.before, change.after,
                    units > 1 ? fmt::format(" ({} hosts or devices)", units) : ""),
        style);
  }
  if (comparison.facts.size() > kShownFacts)
    text +=
        labelled_line("", fmt::format("and {} more", comparison.facts.size() - kShownFacts), style);
  return text;
}

std::string only_text(const char* label, std::vector<std::string> titles, const TextStyle& style) {
  if (titles.empty()) return "";
  const std::size_t all = titles.size();
  if (all > kShownOnly) titles.resize(kShownOnly);
  return labelled_line(
      label,
      fmt::format("{} metrics: {}{}", all, join(titles, ", "), all > kShownOnly ? ", ..." : ""),
      style);
}

std::string side_words(const std::string& name, std::size_t runs) {
  return fmt::format("{} ({} {})", name, runs, runs == 1 ? "run" : "runs");
}

std::string summary_line(const Comparison& comparison, const TextStyle& style) {
  std::vector<std::string> parts;
  for (const ChangeVerdict verdict :
       {ChangeVerdict::regressed, ChangeVerdict::improved, ChangeVerdict::changed,
        ChangeVerdict::equivalent, ChangeVerdict::inconclusive})
    if (const std::size_t count = comparison.count(verdict); count > 0)
      parts.push_back(fmt::format("{} {}", count, to_string(verdict)));
  const std::string text =
      fmt::format("{} metrics: {}; {} tested as one family with a 5 % false discovery rate",
                  comparison.metrics.size(), join(parts, ", "), comparison.tested);
  const std::string left_out =
      comparison.derived == 0 ? ""
                              : fmt::format("; {} derived metrics omitted", comparison.derived);
  const ExitCode code = comparison.exit_code();
  const Paint colour = code == ExitCode::ok       ? Paint::green
                       : code == ExitCode::failed ? Paint::red
                                                  : Paint::yellow;
  return paint(wrap(text + left_out, 0, 2, style), colour, style) + "\n";
}

}  // namespace

std::string to_text(const Comparison& comparison, const TextStyle& style, bool all) {
  std::string text = paint("compare", Paint::bold, style) + "\n";
  text += labelled_line("A", side_words(comparison.a, comparison.runs_a), style);
  text += labelled_line("B", side_words(comparison.b, comparison.runs_b), style);
  if (!comparison.hardware_a.empty() || !comparison.hardware_b.empty())
    text += labelled_line(
        "hardware", comparison.hardware_a + " in A, " + comparison.hardware_b + " in B", style);
  if (comparison.price_a && comparison.price_b)
    text += labelled_line("prices",
                          fmt::format("{:.4g} in A, {:.4g} in B (dollars per device-hour)",
                                      *comparison.price_a, *comparison.price_b),
                          style);
  text += facts_text(comparison, style);
  text += only_text("only in A", comparison.only_a, style);
  text += only_text("only in B", comparison.only_b, style);
  if (const std::string table = metrics_table(comparison, style, all); !table.empty())
    text += "\n" + table;
  if (const std::string table = efficiency_text(comparison, style); !table.empty())
    text += "\n" + table;
  text += "\n";
  for (const std::string& warning : comparison.warnings)
    text += paint(wrap("warning: " + printable(warning), 0, 2, style), Paint::yellow, style) + "\n";
  return text + summary_line(comparison, style);
}

}  // namespace bench

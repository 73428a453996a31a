#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/compare/compare_output.h"
#include "results/compare/efficiency_text.h"

namespace bench {
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
  const std::string text = fmt::format(
      "{} metrics: {}; {} tested as one family with a 5 % false discovery rate",
      comparison.metrics.size(), join(parts, ", "), comparison.tested);
  const std::string left_out =
      comparison.derived == 0
          ? ""
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

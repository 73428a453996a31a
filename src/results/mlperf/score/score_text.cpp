#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/mlperf/disclaimer.h"
#include "results/mlperf/score/score_words.h"

namespace bench::mlperf {
namespace {

constexpr std::size_t kFewEntries = 3;  // the details fit on a screen
constexpr std::size_t kIndent = 15;

std::string line(const std::string& label, const std::string& words, const TextStyle& style) {
  if (words.empty()) return "";
  return fmt::format("  {:<13}{}\n", label, wrap(printable(words), kIndent, kIndent, style));
}

std::string score_line(const EntryScore& entry, const TextStyle& style) {
  if (entry.valid())
    return fmt::format("  {:<13}{}  ({})\n", "score",
                       paint(format_minutes(entry.score_minutes) + " minutes", Paint::bold, style),
                       kNotVerified);
  std::string text = "  " + fmt::format("{:<13}", "score") + paint("none", Paint::red, style);
  if (std::isfinite(entry.provisional_minutes))
    text += "; " + format_minutes(entry.provisional_minutes) + " minutes without the problems below";
  return text + "\n";
}

std::string quality_text(const PythonValue& value) {
  return value.is_number() ? fmt::format("{:.6g}", value.number()) : value.excerpt(12);
}

Table runs_table(const EntryScore& entry) {
  Table table({{"run", false},
               {"minutes"},
               {entry.rcp ? entry.rcp->unit : "samples"},
               {"quality"},
               {"", false},
               {"why", false, 1}});
  for (const ScoredRun& run : entry.runs) {
    const auto& last = run.read.facts.last_before_stop;
    table.add({{printable(run.read.file.filename().string())},
               {format_minutes(run.minutes)},
               {std::isfinite(run.converged) ? fmt::format("{:.10g}", run.converged) : ""},
               {last ? quality_text(last->value) : ""},
               {run.use == RunUse::counted ? "" : std::string(to_string(run.use)),
                run.use == RunUse::failed ? Paint::red : Paint::dim},
               {printable(run.why)}});
  }
  return table;
}

std::string convergence_text(const EntryScore& entry) {
  if (!entry.rcp) return entry.rcp_why.empty() ? "" : "not tested: " + entry.rcp_why;
  const RcpTest& test = *entry.rcp;
  return fmt::format("{} ({}): {}", test.pass ? "pass" : "fail", to_string(test.reference.match),
                     test.why);
}

std::string reference_text(const EntryScore& entry) {
  if (!entry.rcp || !entry.rcp->reference.point || !std::isfinite(entry.rcp->limit)) return "";
  const RcpTest& test = *entry.rcp;
  const RcpPoint& point = *test.reference.point;
  return fmt::format("mean {:.10g}, deviation {:.6g}, minimum {:.10g}{}, margin {:+.2f} %{}",
                     point.mean, point.stdev, point.minimum,
                     test.allowance > 0.0 ? fmt::format(" minus an allowance of {:g}", test.allowance) : "",
                     100.0 * margin(test),
                     std::isfinite(test.p) ? fmt::format(", p {:.3f}", test.p) : "");
}

std::string entry_text(const EntryScore& entry, const TextStyle& style) {
  std::string text = paint(printable(entry_name(entry)), Paint::bold, style) + "\n";
  const std::string division = entry.division.empty() ? "no" : entry.division;
  text +=
      line("rules", entry.ruleset + ", " + division + " division; " + entry.ruleset_reason, style);
  text += runs_table(entry).render(kIndent, style);
  text += line("runs", window_text(entry), style);
  if (!std::isnan(entry.olympic_mean_minutes))
    text += line(
        "olympic mean",
        fmt::format("{} minutes: {}", format_minutes(entry.olympic_mean_minutes), mean_text(entry)),
        style);
  text += line("convergence", convergence_text(entry), style);
  text += line("reference", reference_text(entry), style);
  text += line("factor", factor_text(entry), style);
  text += score_line(entry, style);
  for (const WhatIf& what_if : entry.what_if)
    text += line(fmt::format("at {:g}", what_if.test.batch),
                 what_if_text(entry, what_if) + " (" + std::string(kDerived) + ")", style);
  for (const std::string& problem : entry.problems) text += line("problem", problem, style);
  for (const std::string& warning : entry.warnings) text += line("warning", warning, style);
  return text;
}

/// The problems and warnings of an entry, one line each.
std::string remarks(const EntryScore& entry, const TextStyle& style) {
  std::string text;
  const std::string name = printable(entry_name(entry));
  for (const std::string& problem : entry.problems)
    text += "  " + wrap(name + ": " + printable(problem), 2, 4, style) + "\n";
  for (const std::string& warning : entry.warnings)
    text += "  " + wrap(name + ": warning: " + printable(warning), 2, 4, style) + "\n";
  return text;
}

std::string table_text(const SubmissionScore& score, const TextStyle& style) {
  std::vector<Column> columns = {
      {"submitter", false}, {"system", false}, {"accelerator", false, 1}, {"count"}};
  for (const std::string& benchmark : score.benchmarks) columns.push_back({printable(benchmark)});
  Table table(columns);
  for (const SystemRow& row : score.systems) {
    const auto number = row.description ? row.description->accelerators() : std::nullopt;
    std::vector<Cell> cells = {{printable(row.submitter)},
                               {printable(row.system)},
                               {row.description ? printable(row.description->accelerator) : ""},
                               {number ? std::to_string(*number) : ""}};
    for (const std::string& benchmark : score.benchmarks) {
      const EntryScore* entry = entry_at(score, row, benchmark);
      cells.push_back(entry == nullptr || entry->valid()
                          ? Cell{entry == nullptr ? "" : format_minutes(entry->score_minutes)}
                          : Cell{"none", Paint::red});
    }
    table.add(std::move(cells));
  }
  return "Scored minutes to train (" + std::string(kNotVerified) + ")\n" + table.render(2, style);
}

std::string summary(const SubmissionScore& score) {
  const auto valid = std::ranges::count_if(score.entries, &EntryScore::valid);
  return fmt::format("{} of {} entries have a score\n", valid, score.entries.size());
}

}  // namespace

std::string to_text(const SubmissionScore& score, bool details, const TextStyle& style) {
  std::string text;
  const bool all = details || score.entries.size() <= kFewEntries;
  if (all)
    for (const EntryScore& entry : score.entries) text += entry_text(entry, style) + "\n";
  if (score.entries.size() > 1) text += table_text(score, style);
  if (!all)
    for (const EntryScore& entry : score.entries) text += remarks(entry, style);
  for (const std::string& warning : score.warnings)
    text += "warning: " + wrap(printable(warning), 9, 2, style) + "\n";
  return text + summary(score);
}

}  // namespace bench::mlperf

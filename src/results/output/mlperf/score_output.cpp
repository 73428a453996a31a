#include "results/output/mlperf/score_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/disclaimer.h"
#include "core/text.h"
#include "mlperf/score/submission_score.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/mlperf/score_words.h"

namespace bench::mlperf {
namespace {

Json known(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json known(const std::optional<double>& value) { return value ? known(*value) : Json(); }
Json known(const std::optional<std::int64_t>& value) { return value ? Json(*value) : Json(); }

Json run_json(const ScoredRun& run) {
  const RunFacts& facts = run.read.facts;
  return {{"file", run.read.file.filename().string()},
          {"minutes", known(run.minutes)},
          {"use", to_string(run.use)},
          {"compliant", run.read.compliant},
          {"why", text_or_null(run.why)},
          {"status", text_or_null(facts.status)},
          {"run_start_ms", known(facts.run_start_ms)},
          {"run_stop_ms", known(facts.run_stop_ms)},
          {"quality", facts.last_before_stop ? facts.last_before_stop->value.to_json() : Json()},
          {"samples_to_converge", known(run.converged)},
          {"global_batch_size", known(facts.global_batch_size)}};
}

Json window_json(const EntryScore& entry) {
  if (!entry.window) return nullptr;
  Json means = Json::array(), files = Json::array();
  for (const double mean : entry.window->means) means.push_back(known(mean));
  for (const std::size_t run : entry.window->runs)
    files.push_back(entry.runs[run].read.file.filename().string());
  return {{"first", entry.window->first}, {"files", files}, {"olympic_means_minutes", means}};
}

Json what_if_json(const WhatIf& what_if) {
  Json json = to_json(what_if.test);
  json["minutes_at_reference"] = known(what_if.minutes_at_reference);
  json["note"] = kDerived;
  return json;
}

template <class T, class F>
Json list(const std::vector<T>& items, const F& make) {
  Json result = Json::array();
  for (const T& item : items) result.push_back(make(item));
  return result;
}

Json entry_json(const EntryScore& entry) {
  return {{"submitter", entry.submitter},
          {"system", entry.system},
          {"benchmark", entry.benchmark},
          {"folder", entry.folder.string()},
          {"division", entry.division},
          {"ruleset", entry.ruleset},
          {"ruleset_reason", entry.ruleset_reason},
          {"required_runs", entry.required_runs > 0 ? Json(entry.required_runs) : Json()},
          {"runs", list(entry.runs, run_json)},
          {"window", window_json(entry)},
          {"olympic_mean_minutes", known(entry.olympic_mean_minutes)},
          {"scaling_factor", entry.scaling_factor},
          {"scaling_factor_file", known(entry.file_factor)},
          {"score_minutes", known(entry.score_minutes)},
          {"provisional_minutes", known(entry.provisional_minutes)},
          {"rcp", entry.rcp ? to_json(*entry.rcp) : Json()},
          {"rcp_why", text_or_null(entry.rcp_why)},
          {"what_if", list(entry.what_if, what_if_json)},
          {"valid", entry.valid()},
          {"problems", entry.problems},
          {"warnings", entry.warnings}};
}

Json row_json(const SubmissionScore& score, const SystemRow& row) {
  Json minutes = Json::object();
  for (const std::string& benchmark : score.benchmarks) minutes[benchmark] = nullptr;
  for (const std::size_t entry : row.entries)
    minutes[score.entries[entry].benchmark] = known(score.entries[entry].score_minutes);
  const SystemDescription none, &system = row.description ? *row.description : none;
  return {{"division", text_or_null(score.entries[row.entries.front()].division)},
          {"availability", text_or_null(system.status)},
          {"submitter", row.submitter},
          {"system", row.system},
          {"system_name", text_or_null(system.system_name)},
          {"number_of_nodes", known(system.nodes)},
          {"accelerator_model_name", text_or_null(system.accelerator)},
          {"accelerators_count", known(system.accelerators())},
          {"framework", text_or_null(system.framework)},
          {"score_minutes", minutes}};
}

}  // namespace

Json to_json(const SubmissionScore& score) {
  return {
      {"path", score.root.string()},
      {"entries", list(score.entries, entry_json)},
      {"table", list(score.systems, [&](const SystemRow& row) { return row_json(score, row); })},
      {"note", kNotVerified},
      {"exit_code", static_cast<int>(score.exit_code)},
      {"warnings", score.warnings}};
}

namespace {

// The columns of the official summarizer's table, in its order, plus the disclaimer.

/// Beyond RFC 4180, quotes texts that a spreadsheet could interpret as formulas.
std::string csv_cell(const std::string& text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t ").find(text.front()) != std::string_view::npos;
  if (!formula && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

std::string csv_line(const std::vector<std::string>& texts) {
  std::vector<std::string> cells;
  for (const std::string& text : texts) cells.push_back(csv_cell(text));
  return join(cells, ",") + "\r\n";
}

std::string count_text(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "";
}

std::optional<std::int64_t> processors(const SystemDescription& system) {
  if (!system.nodes || !system.processors_per_node) return {};
  return *system.nodes * *system.processors_per_node;
}

std::vector<std::string> row_cells(const SubmissionScore& score, const SystemRow& row) {
  const SystemDescription none, &system = row.description ? *row.description : none;
  std::vector<std::string> cells = {score.entries[row.entries.front()].division,
                                    system.status,
                                    row.submitter,
                                    system.system_name.empty() ? row.system : system.system_name,
                                    count_text(system.nodes),
                                    system.processor,
                                    count_text(processors(system)),
                                    system.accelerator,
                                    count_text(system.accelerators()),
                                    system.framework};
  for (const std::string& benchmark : score.benchmarks) {
    const EntryScore* entry = entry_at(score, row, benchmark);
    const bool has = entry != nullptr && std::isfinite(entry->score_minutes);
    cells.push_back(has ? fmt::format("{}", entry->score_minutes) : "");
  }
  cells.push_back(row.system);
  cells.emplace_back(kNotVerified);
  return cells;
}

}  // namespace

std::string to_csv(const SubmissionScore& score) {
  std::vector<std::string> header = {"division",
                                     "availability",
                                     "submitter",
                                     "system",
                                     "number_of_nodes",
                                     "host_processor_model_name",
                                     "host_processors_count",
                                     "accelerator_model_name",
                                     "accelerators_count",
                                     "framework"};
  header.insert(header.end(), score.benchmarks.begin(), score.benchmarks.end());
  header.insert(header.end(), {"system_folder", "note"});
  std::string text = csv_line(header);
  for (const SystemRow& row : score.systems) text += csv_line(row_cells(score, row));
  return text;
}

namespace {

PageCell number_cell(double value, const std::string& text) { return {text, value}; }

PageCell minutes_cell(double minutes) { return number_cell(minutes, format_minutes(minutes)); }

PageCell count_cell(const std::optional<std::int64_t>& count) {
  if (!count) return {};
  return number_cell(static_cast<double>(*count), std::to_string(*count));
}

PageTable systems_table(const SubmissionScore& score) {
  PageTable table{{"division", "availability", "submitter", "system", "accelerator", "count"}, {}};
  for (const std::string& benchmark : score.benchmarks) table.columns.push_back(benchmark);
  for (const SystemRow& row : score.systems) {
    const SystemDescription none, &system = row.description ? *row.description : none;
    std::vector<PageCell> cells = {{score.entries[row.entries.front()].division},
                                   {system.status},
                                   {row.submitter},
                                   {row.system},
                                   {system.accelerator},
                                   count_cell(system.accelerators())};
    for (const std::string& benchmark : score.benchmarks) {
      const EntryScore* entry = entry_at(score, row, benchmark);
      cells.push_back(entry == nullptr || entry->valid()
                          ? minutes_cell(entry == nullptr ? kNoValue : entry->score_minutes)
                          : PageCell{"none", kNoValue, "fail"});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<PageCell> entry_cells(const EntryScore& entry) {
  const auto runs = static_cast<double>(entry.runs.size());
  std::vector<PageCell> cells = {{entry.submitter},
                                 {entry.system},
                                 {entry.benchmark},
                                 number_cell(runs, std::to_string(entry.runs.size())),
                                 minutes_cell(entry.olympic_mean_minutes),
                                 number_cell(entry.scaling_factor, factor_text(entry)),
                                 minutes_cell(entry.score_minutes)};
  if (!entry.rcp) {
    cells.push_back({entry.rcp_why});
    return cells;
  }
  const RcpTest& test = *entry.rcp;
  const RcpPoint point =
      test.reference.point.value_or(RcpPoint{.mean = kNoValue, .stdev = kNoValue});
  const auto number = [](double value) {
    return number_cell(value, std::isfinite(value) ? fmt::format("{:.8g}", value) : "");
  };
  cells.insert(cells.end(),
               {PageCell{test.pass ? "pass" : "fail", kNoValue, test.pass ? "pass" : "fail"},
                PageCell{std::string(to_string(test.reference.match))}, number(test.batch),
                number(test.mean), number(point.mean), number(point.stdev), number(test.limit),
                number_cell(margin(test), std::isfinite(margin(test))
                                              ? fmt::format("{:+.2f} %", 100.0 * margin(test))
                                              : "")});
  return cells;
}

PageTable entries_table(const SubmissionScore& score) {
  PageTable table{
      {"submitter", "system", "benchmark", "runs", "olympic mean", "factor", "score", "convergence",
       "match", "batch", "entry mean", "reference mean", "deviation", "minimum to pass", "margin"},
      {}};
  for (const EntryScore& entry : score.entries) table.rows.push_back(entry_cells(entry));
  return table;
}

PlotSeries reference_series(const RcpSet& set) {
  PlotSeries series{"reference and passing range", {}, {}, {}, {}, Mark::line_points};
  for (const RcpPoint& point : set.points) {
    if (!point.kept) continue;
    series.x.push_back(point.batch);
    series.y.push_back(point.mean);
    series.low.push_back(point.minimum - set.allowance);
    series.high.push_back(point.mean);
  }
  return series;
}

PlotSeries pruned_series(const RcpSet& set) {
  PlotSeries series{"pruned", {}, {}, {}, {}, Mark::points};
  for (const RcpPoint& point : set.points) {
    if (point.kept) continue;
    series.x.push_back(point.batch);
    series.y.push_back(point.mean);
  }
  return series;
}

PlotSeries entries_series(const SubmissionScore& score, const RcpSet& set) {
  PlotSeries series{"entries", {}, {}, {}, {}, Mark::points};
  for (const EntryScore& entry : score.entries) {
    if (!entry.rcp || entry.reference != set.benchmark || entry.ruleset != set.ruleset) continue;
    series.x.push_back(entry.rcp->batch);
    series.y.push_back(entry.rcp->mean);
  }
  return series;
}

std::string convergence_drawing(const SubmissionScore& score, const RcpSet& set) {
  Plot plot{"Convergence of " + set.benchmark, "global batch", set.unit + " to the target", true};
  plot.series = {reference_series(set), entries_series(score, set)};
  if (PlotSeries pruned = pruned_series(set); !pruned.x.empty())
    plot.series.push_back(std::move(pruned));
  return to_svg(plot);
}

}  // namespace

std::string to_html(const SubmissionScore& score) {
  Page page("MLPerf scores");
  page.note("These scores are " + std::string(kNotVerified) + ".");
  page.text("Scored minutes to train of " + score.root.string());
  page.table(systems_table(score));
  page.heading("Score details").table(entries_table(score));
  for (const EntryScore& entry : score.entries)
    for (const auto* texts : {&entry.problems, &entry.warnings})
      for (const std::string& text : *texts) page.note(entry_name(entry) + ": " + text);
  for (const std::string& warning : score.warnings) page.note(warning);
  for (const auto& [name, set] : score.reference)
    page.heading(set.benchmark + ", round " + set.ruleset)
        .figure(convergence_drawing(score, set),
                "An entry below the band fails; an entry in the band is scaled by "
                "reference mean / mean. The reference is interpolated between points. "
                "Points: " +
                    set.source);
  return page.html();
}

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
    text +=
        "; " + format_minutes(entry.provisional_minutes) + " minutes without the problems below";
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
  return fmt::format(
      "mean {:.10g}, deviation {:.6g}, minimum {:.10g}{}, margin {:+.2f} %{}", point.mean,
      point.stdev, point.minimum,
      test.allowance > 0.0 ? fmt::format(" minus an allowance of {:g}", test.allowance) : "",
      100.0 * margin(test), std::isfinite(test.p) ? fmt::format(", p {:.3f}", test.p) : "");
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

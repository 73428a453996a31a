#include "results/output/mlperf/score_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/disclaimer.h"
#include "core/text.h"
#include "results/output/document/plot.h"

namespace bench::mlperf {

std::string format_minutes(double minutes) {
  // Times are whole milliseconds, so many are exactly halfway except for rounding errors: 599,673
  // ms are 9.99455 minutes.
  if (!std::isfinite(minutes)) return "";
  const double clean = std::round(minutes * 1e8) / 1e4;
  return fmt::format("{:.4f}", std::round(clean) / 1e4);
}

std::string format_energy(double joules) {
  if (!std::isfinite(joules)) return "";
  return fmt::format("{:.5g} MJ ({:.4g} kWh)", joules / 1e6, joules / 3.6e6);
}

DocumentCell minutes_cell(double minutes) { return numeric(minutes, format_minutes(minutes)); }

namespace {

// NaN and infinities are printed as null.

template <class T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json run_json(const ScoredRun& run) {
  const RunFacts& facts = run.read.facts;
  return {{"file", run.read.file.filename().string()},
          {"minutes", run.minutes},
          {"use", to_string(run.use)},
          {"compliant", run.read.compliant},
          {"why", text_or_null(run.why)},
          {"status", text_or_null(facts.status)},
          {"run_start_ms", known(facts.run_start_ms)},
          {"run_stop_ms", known(facts.run_stop_ms)},
          {"quality", facts.last_before_stop ? facts.last_before_stop->value.to_json() : Json()},
          {"samples_to_converge", run.converged},
          {"global_batch_size", known(facts.global_batch_size)},
          {"energy_joules", run.read.energy ? Json(run.read.energy->joules) : Json()}};
}

Json window_json(const EntryScore& entry) {
  if (!entry.window) return nullptr;
  Json files = Json::array();
  for (const std::size_t run : entry.window->runs)
    files.push_back(entry.runs[run].read.file.filename().string());
  return {{"first", entry.window->first},
          {"files", files},
          {"olympic_means_minutes", entry.window->means}};
}

Json what_if_json(const WhatIf& what_if) {
  Json json = to_json(what_if.test);
  json["minutes_at_reference"] = what_if.minutes_at_reference;
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
          {"olympic_mean_minutes", entry.olympic_mean_minutes},
          {"scaling_factor", entry.scaling_factor},
          {"scaling_factor_file", known(entry.file_factor)},
          {"score_minutes", entry.score_minutes},
          {"provisional_minutes", entry.provisional_minutes},
          {"energy_joules", entry.energy_joules},
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
    minutes[score.entries[entry].benchmark] = score.entries[entry].score_minutes;
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

const ScoredRun* with_use(const EntryScore& entry, RunUse use) {
  const auto found = std::ranges::find(entry.runs, use, &ScoredRun::use);
  return found == entry.runs.end() ? nullptr : &*found;
}

std::string dropped_text(const EntryScore& entry) {
  std::vector<std::string> dropped;
  if (const ScoredRun* run = with_use(entry, RunUse::fastest))
    dropped.push_back("the fastest (" + format_minutes(run->minutes) + ")");
  if (const ScoredRun* run = with_use(entry, RunUse::slowest))
    dropped.push_back("the slowest (" + format_minutes(run->minutes) + ")");
  if (with_use(entry, RunUse::failed) != nullptr) dropped.emplace_back("the failed run");
  return dropped.empty() ? "" : ", without " + join(dropped, " and ");
}

/// "NVIDIA theia_ngpu512 llama31_8b"; with the folder outside the layout.
std::string entry_name(const EntryScore& entry) {
  std::vector<std::string> parts;
  for (const std::string& part : {entry.submitter, entry.system, entry.benchmark})
    if (!part.empty()) parts.push_back(part);
  return entry.system.empty() ? entry.benchmark + " in " + entry.folder.string()
                              : join(parts, "  ");
}

/// "mean of 8 of 10 runs, without the fastest (4.9071) and the slowest (5.5012)".
std::string mean_text(const EntryScore& entry) {
  const auto chosen =
      std::ranges::count_if(entry.runs, [](const auto& run) { return run.use != RunUse::outside; });
  const auto counted = std::ranges::count(entry.runs, RunUse::counted, &ScoredRun::use);
  if (std::isnan(entry.mean_minutes)) return "";
  return fmt::format("mean of {} of {} runs{}", counted, chosen, dropped_text(entry));
}

/// "10 consecutive runs of 12 are scored ..."; "" without a window.
std::string window_text(const EntryScore& entry) {
  if (!entry.window) return "";
  std::vector<std::string> files, means;
  for (const std::size_t run : entry.window->runs)
    files.push_back(entry.runs[run].read.file.filename().string());
  for (const double mean : entry.window->means)
    means.push_back(std::isfinite(mean) ? format_minutes(mean) : "invalid");
  return fmt::format(
      "{1} consecutive runs of {0} are scored, those with the median of {2} "
      "means: {3}. Submit: {4}",
      entry.runs.size(), entry.window->runs.size(), means.size(), join(means, ", "),
      join(files, ", "));
}

std::string what_if_text(const EntryScore& entry, const WhatIf& what_if) {
  const RcpTest& test = what_if.test;
  std::string words = fmt::format("{}: {}", to_string(test.reference.match), test.why);
  if (std::isfinite(what_if.minutes_at_reference))
    words += fmt::format(
        "; with the reference's convergence and the throughput of these runs, the "
        "time would be {} minutes instead of {}",
        format_minutes(what_if.minutes_at_reference), format_minutes(entry.mean_minutes));
  return words;
}

/// "1.010654 (scaling.json agrees)".
std::string factor_text(const EntryScore& entry) {
  std::string words = fmt::format("{:.6f}", entry.scaling_factor);
  const double own = entry.rcp ? entry.rcp->factor : 1.0;
  if (!entry.file_factor)
    return words + (own > 1.0 ? " (reference mean / mean; no scaling.json)" : "");
  const bool same = std::abs(*entry.file_factor - own) <= 1e-9 * own;
  return words + (same ? " (scaling.json agrees)"
                       : fmt::format(" (from scaling.json; these runs give {:.6f})", own));
}

DocumentTable systems_table(const SubmissionScore& score) {
  DocumentTable table{{{"division", false, kPageOnly},
                       {"availability", false, kPageOnly},
                       {"submitter", false},
                       {"system", false},
                       {"accelerator", false, 1},
                       {"count"}}};
  for (const std::string& benchmark : score.benchmarks) table.columns.push_back({benchmark});
  for (const SystemRow& row : score.systems) {
    const SystemDescription none, &system = row.description ? *row.description : none;
    const auto count = system.accelerators();
    std::vector<DocumentCell> cells = {
        {score.entries[row.entries.front()].division},
        {system.status},
        {row.submitter},
        {row.system},
        {system.accelerator},
        count ? count_cell(static_cast<std::size_t>(*count)) : DocumentCell{}};
    for (const std::string& benchmark : score.benchmarks) {
      const EntryScore* entry = score.entry_at(row, benchmark);
      cells.push_back(entry == nullptr || entry->valid()
                          ? minutes_cell(entry == nullptr ? kNoValue : entry->score_minutes)
                          : DocumentCell{.text = "none", .tone = Tone::bad});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<DocumentCell> entry_cells(const EntryScore& entry) {
  std::vector<DocumentCell> cells = {{entry.submitter},
                                     {entry.system},
                                     {entry.benchmark},
                                     count_cell(entry.runs.size()),
                                     minutes_cell(entry.olympic_mean_minutes),
                                     numeric(entry.scaling_factor, factor_text(entry)),
                                     minutes_cell(entry.score_minutes)};
  if (!entry.rcp) {
    cells.push_back({entry.rcp_why});
    return cells;
  }
  const RcpTest& test = *entry.rcp;
  const RcpPoint point =
      test.reference.point.value_or(RcpPoint{.mean = kNoValue, .stdev = kNoValue});
  cells.push_back(
      {.text = test.pass ? "pass" : "fail", .tone = test.pass ? Tone::good : Tone::bad});
  cells.push_back({std::string(to_string(test.reference.match))});
  for (const double number : {test.batch, test.mean, point.mean, point.stdev, test.limit})
    cells.push_back(numeric(number, fmt::format("{:.8g}", number)));
  cells.push_back(numeric(margin(test), fmt::format("{:+.2f} %", 100.0 * margin(test))));
  return cells;
}

DocumentTable entries_table(const SubmissionScore& score) {
  DocumentTable table{{{"submitter", false},
                       {"system", false},
                       {"benchmark", false},
                       {"runs"},
                       {"olympic mean"},
                       {"factor"},
                       {"score"},
                       {"convergence", false},
                       {"match", false},
                       {"batch"},
                       {"entry mean"},
                       {"reference mean"},
                       {"deviation"},
                       {"minimum to pass"},
                       {"margin"}}};
  for (const EntryScore& entry : score.entries) table.rows.push_back(entry_cells(entry));
  return table;
}

std::string quality_text(const PythonValue& value) {
  return value.is_number() ? fmt::format("{:.6g}", value.number()) : value.excerpt(12);
}

DocumentTable runs_table(const EntryScore& entry) {
  DocumentTable table{{{"run", false},
                       {"minutes"},
                       {entry.rcp ? entry.rcp->unit : "samples"},
                       {"quality"},
                       {"use", false},
                       {"why", false, 1}}};
  for (const ScoredRun& run : entry.runs) {
    const auto& last = run.read.facts.last_before_stop;
    table.rows.push_back(
        {{run.read.file.filename().string()},
         minutes_cell(run.minutes),
         numeric(run.converged, fmt::format("{:.10g}", run.converged)),
         {last ? quality_text(last->value) : ""},
         {.text = run.use == RunUse::counted ? "" : std::string(to_string(run.use)),
          .tone = run.use == RunUse::failed ? Tone::bad : Tone::faint},
         {run.why}});
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

StyledText score_text(const EntryScore& entry) {
  if (entry.valid())
    return std::vector<TextSpan>{{format_minutes(entry.score_minutes) + " minutes", Tone::strong},
                                 {fmt::format("  ({})", kNotVerified)}};
  if (!std::isfinite(entry.provisional_minutes)) return {"none", Tone::bad};
  return std::vector<TextSpan>{
      {"none", Tone::bad},
      {"; " + format_minutes(entry.provisional_minutes) + " minutes without the problems below"}};
}

/// "" without power logs.
std::string energy_text(const EntryScore& entry) {
  if (!std::isfinite(entry.energy_joules)) return "";
  return format_energy(entry.energy_joules) +
         " a run: the mean of those that count for the time, times the factor";
}

FactList facts_of(const EntryScore& entry) {
  FactList facts;
  const auto add = [&](const std::string& label, const std::string& text) {
    if (!text.empty()) facts.rows.emplace_back(label, text);
  };
  const std::string mean = mean_text(entry);
  add("runs", window_text(entry));
  if (!mean.empty())
    add(std::isnan(entry.olympic_mean_minutes) ? "mean" : "olympic mean",
        format_minutes(entry.mean_minutes) + " minutes: " + mean);
  add("convergence", convergence_text(entry));
  add("reference", reference_text(entry));
  add("factor", factor_text(entry));
  facts.rows.emplace_back("score", score_text(entry));
  add("energy", energy_text(entry));
  for (const WhatIf& what_if : entry.what_if)
    add(fmt::format("at {:g}", what_if.test.batch),
        fmt::format("{} ({})", what_if_text(entry, what_if), kDerived));
  for (const std::string& problem : entry.problems) add("problem", problem);
  for (const std::string& warning : entry.warnings) add("warning", warning);
  return facts;
}

void add_details(const EntryScore& entry, Document& document) {
  document.add(Heading{entry_name(entry)});
  document.add(FactList{{{"rules", fmt::format("{}, {} division; {}", entry.ruleset,
                                               entry.division.empty() ? "no" : entry.division,
                                               entry.ruleset_reason)}}});
  document.add(runs_table(entry));
  document.add(facts_of(entry));
}

/// The problems and warnings of an entry, one line each.
void add_remarks(const EntryScore& entry, Lines& lines) {
  const std::string name = entry_name(entry);
  for (const std::string& problem : entry.problems) lines.lines.push_back(name + ": " + problem);
  for (const std::string& warning : entry.warnings)
    lines.lines.push_back(name + ": warning: " + warning);
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

void add_reference_plots(const SubmissionScore& score, Document& document) {
  for (const auto& [name, set] : score.reference) {
    document.add(Heading{set.benchmark + ", round " + set.ruleset}, Audience::page);
    document.add(Figure{convergence_drawing(score, set),
                        "An entry below the band fails; an entry in the band is scaled by "
                        "reference mean / mean. The reference is interpolated between points. "
                        "Points: " +
                            set.source});
  }
}

/// Entries without a score, with the first problem of each.
Headline headline_of(const SubmissionScore& score) {
  constexpr std::size_t kMost = 3;
  const auto valid =
      static_cast<std::size_t>(std::ranges::count_if(score.entries, &EntryScore::valid));
  const std::size_t all = score.entries.size();
  const bool scored = valid == all && all > 0;
  Headline headline{scored ? "SCORED" : "INCOMPLETE", scored ? Tone::good : Tone::bad,
                    fmt::format("{} of {} entries have a score ({})", valid, all, kNotVerified)};
  for (const EntryScore& entry : score.entries)
    if (!entry.valid() && headline.reasons.items.size() < kMost)
      headline.reasons.items.push_back(
          {entry_name(entry) + (entry.problems.empty() ? "" : ": " + entry.problems.front())});
  return headline;
}

constexpr std::size_t kFewEntries = 3;  // the details fit on a screen

}  // namespace

Document to_document(const SubmissionScore& score, bool details) {
  Document document{.title = "MLPerf scores"};
  document.add(headline_of(score), Audience::page);
  document.add(Paragraph{
      fmt::format("Scored minutes to train of {} ({})", score.root.string(), kNotVerified)});
  document.add(systems_table(score), score.entries.size() > 1 ? Audience::all : Audience::page);
  document.add(Heading{"Score details", true}, Audience::page);
  document.add(entries_table(score), Audience::page);
  Lines remarks;
  for (const EntryScore& entry : score.entries)
    if (details || score.entries.size() <= kFewEntries)
      add_details(entry, document);
    else
      add_remarks(entry, remarks);
  document.add(std::move(remarks));
  for (const std::string& warning : score.warnings) document.add(Note{warning, "warning"});
  add_reference_plots(score, document);
  document.add(Paragraph{fmt::format("{} of {} entries have a score",
                                     std::ranges::count_if(score.entries, &EntryScore::valid),
                                     score.entries.size())});
  return document;
}

}  // namespace bench::mlperf

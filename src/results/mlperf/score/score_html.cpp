#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/text.h"
#include "results/mlperf/disclaimer.h"
#include "results/mlperf/score/score_words.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"

namespace bench::mlperf {
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

}  // namespace bench::mlperf

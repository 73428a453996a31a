#include "results/output/mlperf/published_comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/disclaimer.h"
#include "results/output/mlperf/score_output.h"
#include "results/output/verdicts/compare_output.h"

namespace bench::mlperf {
namespace {

std::string heading_of(const RankedBenchmark& ranked) {
  return ranked.division == "closed" ? ranked.benchmark
                                     : ranked.benchmark + ", division " + ranked.division;
}

/// Columns that a table has only where some entry has values for them.
struct RankedColumns {
  bool cost = false, energy = false;
};

RankedColumns columns_of(const RankedBenchmark& benchmark) {
  RankedColumns columns;
  for (const RankedEntry& one : benchmark.entries) {
    columns.cost |= std::isfinite(one.cost);
    columns.energy |= std::isfinite(one.entry.energy_joules);
  }
  return columns;
}

std::string ranked_legend(const RankedColumns& columns) {
  std::string legend = fmt::format(
      "score: minutes to train, {}. accelerator minutes (score x accelerators) "
      "and their ratio to the best: {}; they include the scaling losses of "
      "larger systems.",
      kNotVerified, kDerived);
  if (columns.cost)
    legend +=
        " cost: of one run, in the currency of the prices, which stand for an accelerator and "
        "hour.";
  if (columns.energy) legend += " energy: of one run, from its power logs.";
  return legend;
}

std::vector<DocumentCell> ranked_cells(const RankedEntry& one, const RankedColumns& columns) {
  const PublishedEntry& entry = one.entry;
  const double accelerators = accelerators_of(entry);
  std::vector<DocumentCell> cells = {
      {entry.submitter},
      {entry.system},
      {hardware_name(entry)},
      accelerators > 0.0 ? numeric(accelerators, fmt::format("{:g}", accelerators))
                         : DocumentCell{},
      minutes_cell(entry.score_minutes),
      minutes_cell(entry.olympic_minutes),
      numeric(one.accelerator_minutes, fmt::format("{:.4g}", one.accelerator_minutes)),
      numeric(one.per_accelerator, fmt::format("x {:.2f}", one.per_accelerator))};
  if (columns.cost) {
    cells.push_back(numeric(one.cost, fmt::format("{:.4g}", one.cost)));
    cells.push_back(numeric(one.cost_ratio, fmt::format("x {:.2f}", one.cost_ratio)));
  }
  if (columns.energy)
    cells.push_back(numeric(entry.energy_joules, format_energy(entry.energy_joules)));
  cells.push_back({std::isfinite(entry.score_minutes) ? "" : entry.no_score});
  return cells;
}

DocumentTable ranked_table(const RankedBenchmark& benchmark) {
  DocumentTable table{{{"submitter", false},
                       {"system", false, 2},
                       {"accelerator", false},
                       {"count"},
                       {"score, minutes"},
                       {"raw, minutes", true, 3},
                       {"accelerator minutes"},
                       {"ratio to best"}}};
  const RankedColumns columns = columns_of(benchmark);
  if (columns.cost) table.columns.insert(table.columns.end(), {{"cost"}, {"ratio to cheapest"}});
  if (columns.energy) table.columns.push_back({"energy"});
  table.columns.push_back({"remark", false});
  for (const RankedEntry& one : benchmark.entries) table.rows.push_back(ranked_cells(one, columns));
  return table;
}

}  // namespace

Document to_document(const std::vector<RankedBenchmark>& ranked) {
  Document document{.title = "MLPerf results"};
  document.add(Paragraph{fmt::format("MLPerf results, {}", kNotVerified)});
  RankedColumns any;
  for (const RankedBenchmark& benchmark : ranked) {
    document.add(Heading{heading_of(benchmark)}).add(ranked_table(benchmark));
    const RankedColumns columns = columns_of(benchmark);
    any.cost |= columns.cost;
    any.energy |= columns.energy;
  }
  return document.add(Paragraph{ranked_legend(any)});
}

Json to_json(const std::vector<RankedBenchmark>& ranked) {
  Json benchmarks = Json::array();
  for (const RankedBenchmark& benchmark : ranked) {
    Json entries = Json::array();
    for (const RankedEntry& one : benchmark.entries)
      entries.push_back(
          {{"submitter", one.entry.submitter},
           {"system", one.entry.system},
           {"system_name", one.entry.description.system_name},
           {"accelerator", hardware_name(one.entry)},
           {"accelerators",
            accelerators_of(one.entry) > 0.0 ? Json(accelerators_of(one.entry)) : Json()},
           {"olympic_mean_minutes", one.entry.olympic_minutes},
           {"scaling_factor", one.entry.scaling_factor},
           {"score_minutes", one.entry.score_minutes},
           {"no_score", text_or_null(one.entry.no_score)},
           {"accelerator_minutes", one.accelerator_minutes},
           {"over_the_best", one.per_accelerator},
           {"cost", one.cost},
           {"over_the_cheapest", one.cost_ratio},
           {"energy_joules", one.entry.energy_joules}});
    benchmarks.push_back({{"benchmark", benchmark.benchmark},
                          {"division", benchmark.division},
                          {"entries", std::move(entries)}});
  }
  return {{"notice", kNotVerified},
          {"derived",
           {{"accelerator_minutes", kDerived},
            {"over_the_best", kDerived},
            {"cost", kDerived},
            {"over_the_cheapest", kDerived}}},
          {"benchmarks", std::move(benchmarks)}};
}

namespace {

std::string unequal_text(const PerAccelerator& one) {
  std::string text = fmt::format(
      "{}: {} of {:g} needs {:.3f} times the accelerator time of {} of "
      "{:g}",
      one.benchmark, one.system_b, one.accelerators_b, one.ratio.value, one.system_a,
      one.accelerators_a);
  if (std::isfinite(one.ratio.low))
    text += fmt::format(" [{:.3f}, {:.3f}]", one.ratio.low, one.ratio.high);
  return text;
}

}  // namespace

Document to_document(const PublishedComparison& comparison) {
  Document document = bench::to_document(comparison.comparison, true);
  document.title = "MLPerf comparison";
  for (const std::string& warning : comparison.warnings) document.add(Note{warning, "warning"});
  if (!comparison.unequal.empty())
    document.add(Heading{std::vector<TextSpan>{{"Different numbers of accelerators"},
                                               {fmt::format("  {}", kDerived), Tone::faint}}});
  Lines unequal;
  for (const PerAccelerator& one : comparison.unequal) unequal.lines.push_back(unequal_text(one));
  document.add(std::move(unequal));
  if (comparison.benchmarks > 0)
    document.add(Paragraph{
        fmt::format("Geometric mean over {} benchmarks, nearest system sizes: B needs {:.3f} times "
                    "the accelerator time ({}).",
                    comparison.benchmarks, comparison.geometric_mean, kDerived)});
  return document.add(Paragraph{fmt::format(
      "Times are scored times, including the scaling factors of the convergence test; {}.",
      kNotVerified)});
}

Json to_json(const PublishedComparison& comparison) {
  Json json = bench::to_json(comparison.comparison);
  json["notice"] = kNotVerified;
  json["unequal"] = Json::array();
  for (const PerAccelerator& one : comparison.unequal)
    json["unequal"].push_back({{"benchmark", one.benchmark},
                               {"system_a", one.system_a},
                               {"system_b", one.system_b},
                               {"accelerators_a", one.accelerators_a},
                               {"accelerators_b", one.accelerators_b},
                               {"ratio", one.ratio.value},
                               {"low", one.ratio.low},
                               {"high", one.ratio.high}});
  for (const std::string& warning : comparison.warnings) json["warnings"].push_back(warning);
  json["accelerator_time"] = {{"geometric_mean", comparison.geometric_mean},
                              {"benchmarks", comparison.benchmarks},
                              {"derived", kDerived}};
  json["exit_code"] = static_cast<int>(comparison.exit_code());
  return json;
}

}  // namespace bench::mlperf

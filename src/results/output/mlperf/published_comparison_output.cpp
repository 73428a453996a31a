#include "results/output/mlperf/published_comparison_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/disclaimer.h"
#include "core/text.h"
#include "results/output/document/page.h"
#include "results/output/mlperf/score_words.h"
#include "results/output/verdicts/compare_json.h"
#include "results/output/verdicts/compare_output.h"
#include "results/output/verdicts/scaling_output.h"
#include "results/verdicts/published/published_comparison.h"

namespace bench::mlperf {
namespace {

double or_last(double score) { return std::isfinite(score) ? score : HUGE_VAL; }

void set_per_accelerator(RankedBenchmark& ranked) {
  double least = HUGE_VAL;
  for (const RankedEntry& one : ranked.entries)
    if (one.accelerator_minutes < least) least = one.accelerator_minutes;
  for (RankedEntry& one : ranked.entries) one.per_accelerator = one.accelerator_minutes / least;
}

std::string format_ratio(double ratio) {
  return std::isfinite(ratio) ? fmt::format("x {:.2f}", ratio) : "";
}

std::string heading_of(const RankedBenchmark& ranked) {
  return ranked.division == "closed" ? ranked.benchmark
                                     : ranked.benchmark + ", division " + ranked.division;
}

/// The cells of a row, shared by text and HTML; not safe to print.
std::vector<std::pair<std::string, double>> cells_of(const RankedEntry& one) {
  const PublishedEntry& entry = one.entry;
  const double accelerators = accelerators_of(entry);
  return {
      {entry.submitter, kNoValue},
      {entry.system, kNoValue},
      {hardware_name(entry), kNoValue},
      {accelerators > 0.0 ? fmt::format("{:g}", accelerators) : "", accelerators},
      {format_minutes(entry.score_minutes), entry.score_minutes},
      {format_minutes(entry.olympic_minutes), entry.olympic_minutes},
      {std::isfinite(one.accelerator_minutes) ? fmt::format("{:.4g}", one.accelerator_minutes) : "",
       one.accelerator_minutes},
      {format_ratio(one.per_accelerator), one.per_accelerator},
      {std::isfinite(entry.score_minutes) ? "" : entry.no_score, kNoValue}};
}

std::string ranked_legend() {
  return fmt::format(
      "score: minutes to train, {}. accelerator minutes (score x accelerators) "
      "and their ratio to the best: {}; they include the scaling losses of "
      "larger systems.",
      kNotVerified, kDerived);
}

}  // namespace

std::vector<RankedBenchmark> ranked_benchmarks(const std::vector<PublishedEntry>& entries) {
  std::map<std::pair<std::string, std::string>, RankedBenchmark> found;
  for (const PublishedEntry& entry : entries) {
    RankedBenchmark& ranked = found[{entry.benchmark, entry.division}];
    ranked.benchmark = entry.benchmark;
    ranked.division = entry.division;
    ranked.entries.push_back({entry, accelerator_minutes(entry)});
  }
  std::vector<RankedBenchmark> list;
  for (auto& [name, ranked] : found) {
    std::ranges::stable_sort(ranked.entries, {}, [](const RankedEntry& one) {
      return or_last(one.entry.score_minutes);
    });
    set_per_accelerator(ranked);
    list.push_back(std::move(ranked));
  }
  return list;
}

std::string to_text(const std::vector<RankedBenchmark>& ranked, const TextStyle& style) {
  std::string text =
      paint("MLPerf results", Paint::bold, style) + "  " + std::string(kNotVerified) + "\n";
  for (const RankedBenchmark& benchmark : ranked) {
    text += "\n" + paint(printable(heading_of(benchmark)), Paint::bold, style) + "\n";
    Table table({{"submitter", false},
                 {"system", false, 2},
                 {"accelerator", false},
                 {"count"},
                 {"score"},
                 {"raw", true, 3},
                 {"accelerator minutes"},
                 {"ratio to best"},
                 {"", false}});
    for (const RankedEntry& one : benchmark.entries) {
      std::vector<Cell> row;
      for (const auto& [words, sort] : cells_of(one)) row.push_back({printable(words)});
      table.add(std::move(row));
    }
    text += table.render(2, style);
  }
  return text + "\n" + wrap(ranked_legend(), 0, 0, style) + "\n";
}

std::string to_html(const std::vector<RankedBenchmark>& ranked) {
  Page page("MLPerf results");
  page.note(ranked_legend());
  for (const RankedBenchmark& benchmark : ranked) {
    PageTable table{{"submitter", "system", "accelerator", "count", "score, minutes",
                     "raw, minutes", "accelerator minutes", "ratio to best", "remark"},
                    {}};
    for (const RankedEntry& one : benchmark.entries) {
      std::vector<PageCell> row;
      for (const auto& [words, sort] : cells_of(one)) row.push_back({words, sort});
      table.rows.push_back(std::move(row));
    }
    page.heading(heading_of(benchmark)).table(table);
  }
  return page.html();
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
           {"over_the_best", one.per_accelerator}});
    benchmarks.push_back({{"benchmark", benchmark.benchmark},
                          {"division", benchmark.division},
                          {"entries", std::move(entries)}});
  }
  return {{"notice", kNotVerified},
          {"derived", {{"accelerator_minutes", kDerived}, {"over_the_best", kDerived}}},
          {"benchmarks", std::move(benchmarks)}};
}

namespace {

std::string unequal_text(const PerAccelerator& one) {
  std::string text = fmt::format(
      "{}: {} of {:g} needs {:.3f} times the accelerator time of {} of "
      "{:g}",
      printable(one.benchmark), printable(one.system_b), one.accelerators_b, one.ratio.value,
      printable(one.system_a), one.accelerators_a);
  if (std::isfinite(one.ratio.low))
    text += fmt::format(" [{:.3f}, {:.3f}]", one.ratio.low, one.ratio.high);
  return text;
}

}  // namespace

std::string to_text(const PublishedComparison& comparison, const TextStyle& style) {
  std::string text = bench::to_text(comparison.comparison, style, true);
  if (!comparison.unequal.empty()) {
    text += "\n" + paint("Different numbers of accelerators", Paint::bold, style) + "  " +
            std::string(kDerived) + "\n";
    for (const PerAccelerator& one : comparison.unequal)
      text += "  " + wrap(unequal_text(one), 2, 4, style) + "\n";
  }
  if (comparison.benchmarks > 0)
    text += fmt::format(
        "\n"
        "Geometric mean over {} benchmarks, nearest system sizes: B needs {:.3f} times the "
        "accelerator time ({}).\n",
        comparison.benchmarks, comparison.geometric_mean, kDerived);
  return text +
         "Times are scored times, including the scaling factors of the convergence "
         "test; " +
         std::string(kNotVerified) + ".\n";
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
  json["accelerator_time"] = {{"geometric_mean", comparison.geometric_mean},
                              {"benchmarks", comparison.benchmarks},
                              {"derived", kDerived}};
  json["exit_code"] = static_cast<int>(comparison.exit_code());
  return json;
}

}  // namespace bench::mlperf

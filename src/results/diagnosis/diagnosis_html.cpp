// Diagnoses as a section of a page.
#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"
#include "results/plots/stacked_bars.h"

namespace bench::diagnosis {
namespace {

constexpr std::size_t kMostBars = 60;

/// Bars of observations with any known part.
StackedBars bars_of(const std::vector<Diagnosed>& list) {
  StackedBars bars;
  bars.title = "Breakdown of the step time";
  for (const Measure part : step_parts()) bars.parts.emplace_back(words_of(part).words);
  for (const Diagnosed& one : list) {
    std::vector<double> shares;
    bool any = false;
    for (const Measure part : step_parts()) {
      shares.push_back(one.observation.value(part));
      any |= shares.back() > 0.0;
    }
    if (!any || bars.bars.size() == kMostBars) continue;
    bars.bars.push_back(title_of(one.observation));
    bars.shares.push_back(std::move(shares));
  }
  return bars;
}

PageTable answers_table(const Diagnosed& one) {
  PageTable table{{"item", title_of(one.observation)}, {}};
  std::string kind = one.diagnosis.healthy() ? "pass" : "fail";
  if (!one.diagnosis.bottleneck) kind = "inconclusive";
  for (const auto& [label, words] : lines_of(one)) {
    table.rows.push_back({{label}, {words, kNoValue, kind}});
    kind.clear();  // the first line is the verdict
  }
  return table;
}

PageTable causes_table(const Diagnosis& diagnosis) {
  PageTable table{{"cause", "share of step", "max speedup", "evidence"}, {}};
  for (const Finding& finding : diagnosis.all) {
    table.rows.push_back({{std::string(words_of(finding.cause))},
                          number_cell(finding.share, bench::format(finding.share, Unit::ratio)),
                          number_cell(finding.gain, bench::format(finding.gain, Unit::count)),
                          {join(finding.evidence, "; ")}});
  }
  return table;
}

}  // namespace

void add_to_page(const std::vector<Diagnosed>& list, Page& page) {
  if (list.empty()) return;
  page.heading("Bottleneck analysis");
  page.figure(to_svg(bars_of(list)), "Parts of a step that were not measured are not drawn.");
  for (const Diagnosed& one : list) {
    page.table(answers_table(one));
    if (one.diagnosis.all.size() > 1) page.table(causes_table(one.diagnosis));
  }
}

}  // namespace bench::diagnosis

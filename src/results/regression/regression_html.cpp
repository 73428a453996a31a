#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/pages/page.h"
#include "results/plots/plot.h"
#include "results/regression/regression_output.h"

namespace bench {
namespace {

constexpr std::size_t kMostPlots = 60;  // those that weigh most: a page stays a page

PageCell text_cell(const std::string& text) { return {.text = text}; }
PageCell number_cell(const std::string& text, double sort) { return {.text = text, .sort = sort}; }

std::string badge_of(const ChangeFinding& finding) {
  if (finding.fails()) return "fail";
  return finding.verdict == HistoryVerdict::improved ? "pass" : "inconclusive";
}

std::string facts_cell(const ChangeFinding& finding) {
  std::vector<std::string> words;
  for (const FactChange& fact : finding.facts)
    words.push_back(fact.fact + ": " + fact.before + " -> " + fact.after);
  return join(words, "; ");
}

PageTable table_of(const std::vector<ChangeFinding>& findings) {
  PageTable table{{"verdict", "state", "metric", "parameters", "where", "change", "now", "before",
                   "since", "between", "recovered since", "changed facts", "methods", "q", "id"},
                  {}};
  for (const ChangeFinding& finding : findings)
    table.rows.push_back(
        {{.text = std::string(to_string(finding.verdict)), .kind = badge_of(finding)},
         text_cell(std::string(to_string(finding.state))),
         text_cell(finding.key.metric),
         text_cell(params_words(finding.key.params)),
         text_cell(place_words(finding)),
         number_cell(effect_words(finding), finding.effect),
         number_cell(format(finding.value, finding.key.unit), finding.value),
         number_cell(format(finding.expected, finding.key.unit), finding.expected),
         number_cell(finding.since.id, static_cast<double>(finding.since.time_ns)),
         text_cell(between_words(finding)),
         text_cell(finding.until.id),
         text_cell(facts_cell(finding)),
         number_cell(fmt::format("{}/{}", finding.votes, finding.voters), finding.votes),
         number_cell(fmt::format("{:.2g}", finding.q), finding.q),
         text_cell(finding.id)});
  return table;
}

std::string plot_of(const ChangeFinding& finding) {
  PlotSeries values{.name = "values", .x = {}, .y = {}, .mark = Mark::points};
  PlotSeries levels{.name = "levels", .x = {}, .y = {}, .mark = Mark::steps};
  Plot plot{.title = finding.key.metric + " " + params_words(finding.key.params),
            .x_label = "days before the newest value",
            .y_label = std::string(to_string(finding.key.unit))};
  constexpr double kDay = 86400e9;
  const auto days = [&](std::int64_t time_ns) {
    return static_cast<double>(time_ns - finding.points.back().time_ns) / kDay;
  };
  for (std::size_t i = 0; i < finding.points.size(); ++i) {
    values.x.push_back(days(finding.points[i].time_ns));
    values.y.push_back(finding.points[i].value);
    levels.x.push_back(values.x.back());
    levels.y.push_back(finding.levels[i]);
  }
  plot.series = {levels, values};
  if (finding.kind != ChangeKind::drift)
    plot.rules.push_back({"change", days(finding.since.time_ns), true});
  return to_svg(plot);
}

}  // namespace

std::string to_html(const RegressionReport& report) {
  Page page("benchctl: regression");
  page.text(summary_words(report) + ". Newest run: " +
            (report.newest.id.empty() ? std::string("none") : report.newest.id) + ".");
  for (const std::string& line : host_summary_lines(report)) page.text(line + ".");
  if (report.findings.empty()) page.text("No changes found.");
  if (!report.findings.empty()) page.heading("Findings").table(table_of(report.findings));
  page.heading("History");
  page.text(
      "For a host with peers the fleet's common movement is subtracted, so the plot shows the host's own change.");
  std::size_t drawn = 0;
  for (const ChangeFinding& finding : report.findings) {
    if (finding.points.empty() || drawn++ >= kMostPlots) continue;
    page.figure(plot_of(finding), place_words(finding) + ": " + effect_words(finding) + " " +
                                      since_words(finding) + " [" + finding.id + "]");
  }
  if (report.findings.size() > kMostPlots)
    page.note(fmt::format("{1} of {0} findings are plotted.", report.findings.size(), kMostPlots));
  return page.html();
}

}  // namespace bench

#include "results/output/verdicts/regression_output.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/fields.h"
#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"

namespace bench {
namespace {

Json run_or_null(const RunPlace& place) { return place.number == 0 ? Json() : Json(place.id); }

Json facts_json(const ChangeFinding& finding) {
  Json facts = Json::array();
  for (const FactChange& fact : finding.facts) facts.push_back(to_json(fact));
  return facts;
}

Json decision_json(const Decision& decision) {
  if (decision.finding.empty()) return Json();
  return {{"state", to_string(decision.state)},
          {"time", format_time(decision.time_ns)},
          {"user", decision.user},
          {"text", decision.text}};
}

Json finding_json(const ChangeFinding& finding) {
  return {{"id", finding.id},
          {"scope", to_string(finding.scope)},
          {"kind", to_string(finding.kind)},
          {"host", text_or_null(finding.key.host)},
          {"device", text_or_null(finding.key.device)},
          {"metric", finding.key.metric},
          {"params", finding.key.params},
          {"ranks", finding.key.ranks},
          {"unit", to_string(finding.key.unit)},
          {"better", to_string(finding.key.better)},
          {"verdict", to_string(finding.verdict)},
          {"state", to_string(finding.state)},
          {"fails", finding.fails()},
          {"effect", number_or_null(finding.effect)},
          {"low", number_or_null(finding.low)},
          {"high", number_or_null(finding.high)},
          {"q", number_or_null(finding.q)},
          {"threshold", finding.threshold},
          {"value", number_or_null(finding.value)},
          {"expected", number_or_null(finding.expected)},
          {"since_run", run_or_null(finding.since)},
          {"since_low", run_or_null(finding.since_low)},
          {"since_high", run_or_null(finding.since_high)},
          {"since_time", format_time(finding.since.time_ns)},
          {"until_run", run_or_null(finding.until)},
          {"n_before", finding.before},
          {"n_after", finding.after},
          {"votes", finding.votes},
          {"voters", finding.voters},
          {"changes", facts_json(finding)},
          {"decision", decision_json(finding.decision)}};
}

}  // namespace

Json to_json(const RegressionReport& report) {
  Json findings = Json::array(), families = Json::array();
  for (const ChangeFinding& finding : report.findings) findings.push_back(finding_json(finding));
  for (const FindingFamily& family : report.families)
    families.push_back(
        {{"scope", to_string(family.scope)}, {"tested", family.tested}, {"found", family.found}});
  return {{"findings", findings},
          {"tested", report.tested},
          {"missing", report.missing},
          {"too_short", report.too_short},
          {"families", families},
          {"q", report.q},
          {"newest_run", run_or_null(report.newest)},
          {"exit_code", static_cast<int>(report.exit_code)}};
}

namespace {

std::string signed_percent(double share) { return fmt::format("{:+.1f}", 100.0 * share); }

}  // namespace

std::string effect_words(const ChangeFinding& finding) {
  if (!std::isfinite(finding.low) || !std::isfinite(finding.high))
    return signed_percent(finding.effect) + " %";
  return fmt::format("{} % [{}, {}]", signed_percent(finding.effect), signed_percent(finding.low),
                     signed_percent(finding.high));
}

std::string between_words(const ChangeFinding& finding) {
  if (finding.since_low.number == finding.since_high.number) return "";
  return finding.since_low.id + " to " + finding.since_high.id;
}

std::string since_words(const ChangeFinding& finding) {
  std::string words = "since " + finding.since.id;
  if (const std::string between = between_words(finding); !between.empty())
    words += " (" + between + ")";
  if (finding.until.number != 0) words += ", recovered since " + finding.until.id;
  return words;
}

std::string place_words(const ChangeFinding& finding) {
  const std::string where = finding.key.host.empty() ? "fleet" : finding.key.host;
  return finding.key.device.empty() || finding.key.device == "host"
             ? where
             : where + " " + finding.key.device;
}

std::string params_words(const Json& params) {
  std::vector<std::string> words;
  for (const auto& [name, value] : params.items()) words.push_back(name + "=" + text_of(value));
  return join(words, " ");
}

std::vector<std::string> host_summary_lines(const RegressionReport& report) {
  std::map<std::pair<std::string, std::string>, std::size_t> metrics;
  for (const ChangeFinding& finding : report.findings)
    if (finding.fails())
      ++metrics[{finding.key.host.empty() ? "fleet" : finding.key.host, finding.since.id}];
  std::vector<std::string> lines;
  for (const auto& [place, count] : metrics)
    if (count > 1)
      lines.push_back(fmt::format("{}: {} findings since {}", place.first, count, place.second));
  return lines;
}

std::string summary_words(const RegressionReport& report) {
  std::size_t found = 0;
  for (const FindingFamily& family : report.families) found += family.found;
  std::string words =
      fmt::format("{} series judged, {} missing in the newest night, {} too short to judge",
                  report.tested, report.missing, report.too_short);
  if (found > 0)
    words += fmt::format("; {} findings at q = {}, of which up to {:.1f} may be false", found,
                         report.q, report.q * static_cast<double>(found));
  return words;
}

namespace {

constexpr std::size_t kMostPlots = 60;  // those that weigh most: a page stays a page

PageCell text_cell(const std::string& text) { return {.text = text}; }
PageCell keyed_cell(const std::string& text, double sort) { return {.text = text, .sort = sort}; }

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
         keyed_cell(effect_words(finding), finding.effect),
         keyed_cell(format(finding.value, finding.key.unit), finding.value),
         keyed_cell(format(finding.expected, finding.key.unit), finding.expected),
         keyed_cell(finding.since.id, static_cast<double>(finding.since.time_ns)),
         text_cell(between_words(finding)),
         text_cell(finding.until.id),
         text_cell(facts_cell(finding)),
         keyed_cell(fmt::format("{}/{}", finding.votes, finding.voters), finding.votes),
         keyed_cell(fmt::format("{:.2g}", finding.q), finding.q),
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
      "For a host with peers the fleet's common movement is subtracted, so the plot shows the "
      "host's own change.");
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

namespace {

constexpr std::size_t kMaxShownFacts = 4;

bool is_shown(const ChangeFinding& finding, bool all) {
  return all || (finding.state != FindingState::noise && finding.state != FindingState::acked &&
                 finding.verdict != HistoryVerdict::improved);
}

Paint colour_of(const ChangeFinding& finding) {
  if (finding.fails()) return Paint::red;
  return finding.verdict == HistoryVerdict::improved ? Paint::green : Paint::yellow;
}

std::string verdict_words(const ChangeFinding& finding) {
  std::string words(to_string(finding.verdict));
  for (char& letter : words) letter = static_cast<char>(letter - 'a' + 'A');
  if (finding.verdict == HistoryVerdict::changed && finding.key.better != Better::none)
    words += " (size unclear)";
  if (finding.kind == ChangeKind::newest) words += " (newest value only)";
  if (finding.kind == ChangeKind::drift) words += " (gradual)";
  return words;
}

std::string values_words(const ChangeFinding& finding) {
  return fmt::format("{} vs. {} before, n={} vs. {}, {}/{} methods, q={:.2g}, threshold {:.2g} %",
                     format(finding.value, finding.key.unit),
                     format(finding.expected, finding.key.unit), finding.after, finding.before,
                     finding.votes, finding.voters, finding.q, 100.0 * finding.threshold);
}

std::string facts_words(const ChangeFinding& finding) {
  if (finding.facts.empty()) return "no known configuration change";
  std::vector<std::string> words;
  for (const FactChange& fact : finding.facts) {
    if (words.size() == kMaxShownFacts) break;
    words.push_back(fact.fact + ": " + fact.before + " -> " + fact.after);
  }
  const std::size_t more = finding.facts.size() - words.size();
  return "changed facts: " + join(words, "; ") +
         (more > 0 ? fmt::format("; and {} more", more) : "");
}

std::string decision_words(const ChangeFinding& finding) {
  const Decision& decision = finding.decision;
  if (decision.finding.empty()) return "";
  std::string words = fmt::format("{} by {} on {}", to_string(decision.state), decision.user,
                                  format_time(decision.time_ns));
  if (!decision.text.empty()) words += ": " + decision.text;
  if (decision.state == FindingState::fixed && finding.state == FindingState::open)
    words += "; but later measurements still show it";
  return words;
}

std::string finding_text(const ChangeFinding& finding, const TextStyle& style) {
  const std::string params = params_words(finding.key.params);
  const auto line = [&](const std::string& words) {
    return words.empty() ? "" : "    " + wrap(printable(words), 4, 4, style) + "\n";
  };
  return paint(verdict_words(finding), colour_of(finding), style) + "  " +
         printable(fmt::format("{}{}  {}  {}  [{}]", finding.key.metric,
                               params.empty() ? "" : " " + params, place_words(finding),
                               effect_words(finding), finding.id)) +
         "\n" + line(since_words(finding)) + line(values_words(finding)) +
         line(facts_words(finding)) + line(decision_words(finding));
}

std::string exit_words(const RegressionReport& report) {
  if (report.exit_code == ExitCode::failed) return "regression found";
  if (report.exit_code == ExitCode::not_measured)
    return "nothing judged: a series needs at least nine runs";
  return "no open regressions";
}

}  // namespace

std::string to_text(const RegressionReport& report, const TextStyle& style, bool all) {
  std::string text;
  std::size_t hidden = 0;
  for (const ChangeFinding& finding : report.findings) {
    if (is_shown(finding, all))
      text += finding_text(finding, style) + "\n";
    else
      ++hidden;
  }
  for (const std::string& line : host_summary_lines(report))
    text += wrap(printable(line), 0, 2, style) + "\n";
  text += wrap(summary_words(report), 0, 2, style) + "\n";
  if (hidden > 0)
    text += fmt::format("{} acked, noise or improved; show them with --all\n", hidden);
  const Paint colour = report.exit_code == ExitCode::ok ? Paint::green : Paint::red;
  return text +
         paint(fmt::format("exit code {}: {}", static_cast<int>(report.exit_code),
                           exit_words(report)),
               colour, style) +
         "\n";
}

}  // namespace bench

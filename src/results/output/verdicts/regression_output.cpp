#include "results/output/verdicts/regression_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/fields.h"
#include "core/json.h"
#include "core/text.h"
#include "core/time.h"
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

namespace {

std::string signed_percent(double share) { return fmt::format("{:+.1f}", 100.0 * share); }

/// "-3.2 % [-4.1, -2.3]"
std::string effect_words(const ChangeFinding& finding) {
  if (!std::isfinite(finding.low) || !std::isfinite(finding.high))
    return signed_percent(finding.effect) + " %";
  return fmt::format("{} % [{}, {}]", signed_percent(finding.effect), signed_percent(finding.low),
                     signed_percent(finding.high));
}

/// "since RUN (RUN to RUN)", and until when it lasted.
std::string since_words(const ChangeFinding& finding) {
  std::string words = "since " + finding.since.id;
  if (finding.since_low.number != finding.since_high.number)
    words += " (" + finding.since_low.id + " to " + finding.since_high.id + ")";
  if (finding.until.number != 0) words += ", recovered since " + finding.until.id;
  return words;
}

/// "host1 cuda:3", "fleet cuda".
std::string place_words(const ChangeFinding& finding) {
  const std::string where = finding.key.host.empty() ? "fleet" : finding.key.host;
  return finding.key.device.empty() || finding.key.device == "host"
             ? where
             : where + " " + finding.key.device;
}

/// "gemm.throughput dtype=bf16 m=8192"
std::string series_words(const SeriesKey& key) {
  std::string words = key.metric;
  for (const auto& [name, value] : key.params.items()) words += " " + name + "=" + text_of(value);
  return words;
}

/// How many were looked at, and how many false ones that makes.
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

std::string verdict_words(const ChangeFinding& finding) {
  std::string words = to_upper(to_string(finding.verdict));
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

std::string facts_words(const ChangeFinding& finding, std::size_t most) {
  if (finding.facts.empty()) return "no known configuration change";
  std::vector<std::string> words;
  for (const FactChange& fact : finding.facts)
    if (words.size() < most) words.push_back(fact.fact + ": " + fact.before + " -> " + fact.after);
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

Tone tone_of(const ChangeFinding& finding) {
  if (finding.fails()) return Tone::bad;
  return finding.verdict == HistoryVerdict::improved ? Tone::good : Tone::unsure;
}

std::vector<StyledText> notes_of(const ChangeFinding& finding, std::size_t most_facts) {
  std::vector<StyledText> notes = {since_words(finding), values_words(finding),
                                   facts_words(finding, most_facts)};
  if (const std::string decision = decision_words(finding); !decision.empty())
    notes.push_back(decision);
  return notes;
}

DocumentTable findings_table(const std::vector<const ChangeFinding*>& findings,
                             std::size_t most_facts = std::numeric_limits<std::size_t>::max()) {
  DocumentTable table{{{"verdict", false},
                       {"metric", false},
                       {"where", false},
                       {"change"},
                       {"now", true, kPageOnly},
                       {"before", true, kPageOnly},
                       {"since", false, kPageOnly},
                       {"methods", true, kPageOnly},
                       {"q", true, kPageOnly},
                       {"state", false, 1},
                       {"id", false}}};
  for (const ChangeFinding* finding : findings) {
    table.notes[table.rows.size()] = notes_of(*finding, most_facts);
    table.rows.push_back(
        {{.text = verdict_words(*finding), .tone = tone_of(*finding)},
         {series_words(finding->key)},
         {place_words(*finding)},
         {effect_words(*finding), finding->effect},
         value_cell(finding->value, finding->key.unit),
         value_cell(finding->expected, finding->key.unit),
         {finding->since.id, static_cast<double>(finding->since.time_ns)},
         {fmt::format("{}/{}", finding->votes, finding->voters), 1.0 * finding->votes},
         numeric(finding->q, fmt::format("{:.2g}", finding->q)),
         {std::string(to_string(finding->state))},
         {finding->id}});
  }
  return table;
}

std::string plot_of(const ChangeFinding& finding) {
  PlotSeries values{.name = "values", .x = {}, .y = {}, .mark = Mark::points};
  PlotSeries levels{.name = "levels", .x = {}, .y = {}, .mark = Mark::steps};
  Plot plot{.title = series_words(finding.key),
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

void add_histories(const RegressionReport& report, Document& document) {
  constexpr std::size_t kMostPlots = 60;  // those that weigh most: a page stays a page
  if (report.findings.empty()) return;
  document.add(Heading{"History"}, Audience::page);
  std::string about = ". The fleet's common movement is subtracted from hosts with peers.";
  if (report.findings.size() > kMostPlots)
    about += fmt::format(" {} of {} findings are plotted.", kMostPlots, report.findings.size());
  std::size_t drawn = 0;
  for (const ChangeFinding& finding : report.findings) {
    if (finding.points.empty() || drawn++ >= kMostPlots) continue;
    document.add(Figure{plot_of(finding),
                        fmt::format("{}: {} {} [{}]{}", place_words(finding), effect_words(finding),
                                    since_words(finding), finding.id, std::exchange(about, ""))});
  }
}

bool is_shown(const ChangeFinding& finding, bool all) {
  return all || (finding.state != FindingState::noise && finding.state != FindingState::acked &&
                 finding.verdict != HistoryVerdict::improved);
}

std::string exit_words(const RegressionReport& report) {
  if (report.exit_code == ExitCode::failed) return "regression found";
  if (report.exit_code == ExitCode::not_measured)
    return "nothing judged: a series needs at least nine runs";
  return "no open regressions";
}

std::size_t open_findings(const RegressionReport& report) {
  return static_cast<std::size_t>(
      std::ranges::count_if(report.findings, [](const ChangeFinding& one) { return one.fails(); }));
}

Headline headline_of(const RegressionReport& report) {
  constexpr std::size_t kMost = 3;
  const std::size_t open = open_findings(report);
  Headline headline{report.exit_code == ExitCode::failed         ? "REGRESSED"
                    : report.exit_code == ExitCode::not_measured ? "NOT JUDGED"
                                                                 : "NO REGRESSION",
                    tone_of(report.exit_code), exit_words(report)};
  if (open > 0)
    headline.text = fmt::format("{} open finding{}, {} series judged", open, open == 1 ? "" : "s",
                                report.tested);
  for (const ChangeFinding& finding : report.findings)
    if (finding.fails() && headline.reasons.items.size() < kMost)
      headline.reasons.items.push_back({{{{place_words(finding), Tone::strong},
                                          {": " + series_words(finding.key) + " " +
                                           effect_words(finding) + ", " + since_words(finding)}}}});
  if (open > 0)
    headline.next_step =
        "rerun the host (benchctl accept); then report regression --fixed ID, --noise ID or --ack "
        "ID";
  else if (report.exit_code == ExitCode::not_measured)
    headline.next_step = "keep running benchctl nightly: nine runs of a series are needed";
  return headline;
}

Cards cards_of(const RegressionReport& report) {
  const std::size_t open = open_findings(report);
  return {{{"Open findings", std::to_string(open), "regressions that nobody decided on",
            open > 0 ? Tone::bad : Tone::none},
           {"Series judged", std::to_string(report.tested),
            fmt::format("{} too short to judge", report.too_short)},
           {"Missing", std::to_string(report.missing), "series in the newest night",
            report.missing > 0 ? Tone::unsure : Tone::none}}};
}

}  // namespace

Document to_document(const RegressionReport& report, bool all) {
  Document document{.title = "Regressions"};
  std::vector<const ChangeFinding*> findings, relevant;
  for (const ChangeFinding& finding : report.findings) {
    findings.push_back(&finding);
    if (is_shown(finding, all)) relevant.push_back(&finding);
  }
  document.add(headline_of(report)).add(cards_of(report), Audience::page);
  document.add(Paragraph{summary_words(report) + ". Newest run: " +
                         (report.newest.id.empty() ? "none" : report.newest.id) + "."});
  document.add(lines_of(host_summary_lines(report)));
  if (findings.empty()) document.add(Paragraph{"No changes found."});
  add_histories(report, document);
  if (!relevant.empty())
    document.add(Heading{"Findings"}, Audience::terminal)
        .add(findings_table(relevant, 4), Audience::terminal);
  if (!findings.empty())
    document.add(Heading{"Findings"}, Audience::page).add(findings_table(findings), Audience::page);
  if (relevant.size() < findings.size())
    document.add(Paragraph{fmt::format("{} acked, noise or improved; show them with --all",
                                       findings.size() - relevant.size())},
                 Audience::terminal);
  return document.add(Paragraph{{fmt::format("exit code {}: {}", static_cast<int>(report.exit_code),
                                             exit_words(report)),
                                 tone_of(report.exit_code)}},
                      Audience::terminal);
}

}  // namespace bench

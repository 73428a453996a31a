#include <fmt/format.h>

#include <cmath>

#include "core/text.h"
#include "results/regression/regression_output.h"

namespace bench {
namespace {

constexpr std::size_t kShownFacts = 4;

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
    if (words.size() == kShownFacts) break;
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
  if (hidden > 0) text += fmt::format("{} acked, noise or improved; show them with --all\n", hidden);
  const Paint colour = report.exit_code == ExitCode::ok ? Paint::green : Paint::red;
  return text +
         paint(fmt::format("exit code {}: {}", static_cast<int>(report.exit_code),
                           exit_words(report)),
               colour, style) +
         "\n";
}

}  // namespace bench

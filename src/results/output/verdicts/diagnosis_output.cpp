// Diagnoses as a section of a page.
#include "results/output/verdicts/diagnosis_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/output/document/plot.h"

namespace bench::diagnosis {
namespace {

// The table of rules as docs/diagnosis.md has it.

std::string subjects_of(const Rule& rule) {
  std::vector<std::string> names;
  for (const Subject subject : rule.of) names.emplace_back(to_string(subject));
  const std::string text = join(names, ", ");
  if (rule.on == On::any) return text;
  return text + (rule.on == On::gpu ? ", on a GPU" : ", on a CPU");
}

/// Measures reported next to those of the condition.
std::string evidence_list(const Rule& rule) {
  std::vector<std::string> words;
  for (const Measure measure : rule.evidence) words.emplace_back(words_of(measure).words);
  return join(words, ", ");
}

}  // namespace

std::string rules_table() {
  std::string text =
      "| rule | condition | cause | applies to | other evidence | potential gain, at most | "
      "confirm by | fix |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Rule& rule : rules())
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", rule.name,
                        condition_text(rule), words_of(rule.cause), subjects_of(rule),
                        evidence_list(rule), rule.ceiling.text(), rule.experiment, rule.fix);
  return text;
}

namespace {

// Text shared by every output form of a diagnosis.

/// Smaller parts of a step are not reported.
constexpr double kNotableShare = 0.001;

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string subject_words(Subject subject) {
  switch (subject) {
    case Subject::training:
      return "training";
    case Subject::loader:
      return "data loader with steps";
    case Subject::checkpoint:
      break;
  }
  return "checkpoints during steps";
}

std::string verdict_of(const Diagnosis& diagnosis) {
  if (diagnosis.bottleneck) return cause_and_share(*diagnosis.bottleneck);
  const std::size_t unknown = diagnosis.not_judged.size();
  if (unknown == 0) return "none: no rule matched";
  return fmt::format("none found; {} rules could not be evaluated", unknown);
}

/// Without an upper bound the reason, if known.
std::string ceiling_of(const Finding& finding) {
  if (!std::isfinite(finding.gain)) return finding.gain_text;
  std::string text = fmt::format("up to {:.3g}x", finding.gain);
  return finding.gain_text.empty() ? text : text + ": " + finding.gain_text;
}

std::string next_words(const Finding& next) {
  const std::string ceiling = ceiling_of(next);
  return cause_and_share(next) + (ceiling.empty() ? "" : "; " + ceiling);
}

/// Causes other than the bottleneck and the next one.
std::string others_of(const Diagnosis& diagnosis) {
  const auto is_listed = [](const std::optional<Finding>& one, const Finding& finding) {
    return one && one->rule == finding.rule;
  };
  std::vector<std::string> parts;
  for (const Finding& finding : diagnosis.all)
    if (!is_listed(diagnosis.bottleneck, finding) && !is_listed(diagnosis.next, finding))
      parts.push_back(cause_and_share(finding));
  return join(parts, "; ");
}

std::string parts_of_step(const Observation& observation) {
  std::vector<std::string> parts;
  for (const Measure part : step_parts())
    if (const double share = observation.value(part); share >= kNotableShare)
      parts.push_back(std::string(words_of(part).words) + " " + format_measure(part, share));
  return join(parts, ", ");
}

/// Groups the rules that could not be evaluated by reason.
void add_unknowns(const Diagnosis& diagnosis, Lines& lines) {
  std::vector<std::pair<std::vector<std::string>, const Unknown*>> groups;
  for (const Unknown& unknown : diagnosis.not_judged) {
    const auto same = std::ranges::find_if(groups, [&](const auto& group) {
      return group.second->why == unknown.why && group.second->settle == unknown.settle;
    });
    if (same == groups.end())
      groups.emplace_back(std::vector<std::string>{unknown.rule}, &unknown);
    else
      same->first.push_back(unknown.rule);
  }
  const char* label = "not evaluated";
  for (const auto& [names, unknown] : groups) {
    std::string text = join(names, ", ") + ": " + unknown->why;
    if (!unknown->settle.empty()) text += "; to evaluate: " + unknown->settle;
    lines.emplace_back(std::exchange(label, ""), std::move(text));
  }
}

}  // namespace

std::string title_of(const Observation& observation) {
  std::string text = observation.case_name + ", " + subject_words(observation.subject);
  if (!observation.what.empty()) text += ", " + observation.what;
  if (observation.jobs.size() > 1) text += fmt::format(", {} jobs", observation.jobs.size());
  return text;
}

std::string cause_and_share(const Finding& finding) {
  const std::string words(words_of(finding.cause));
  if (!std::isfinite(finding.share)) return words;
  return words + ", " + bench::format(finding.share, Unit::ratio) + " of the step time";
}

Lines lines_of(const Diagnosed& one) {
  const Diagnosis& diagnosis = one.diagnosis;
  Lines lines = {{"bottleneck", verdict_of(diagnosis)}};
  if (const auto& found = diagnosis.bottleneck) {
    lines.emplace_back("evidence", join(found->evidence, "; "));
    const std::string ceiling = ceiling_of(*found);
    lines.emplace_back("potential gain", ceiling.empty() ? "no upper bound known" : ceiling);
    lines.emplace_back("fix", found->fix);
    lines.emplace_back("confirm by", found->experiment);
  }
  if (diagnosis.next) lines.emplace_back("next bottleneck", next_words(*diagnosis.next));
  lines.emplace_back("other causes", others_of(diagnosis));
  lines.emplace_back("step time", parts_of_step(one.observation));
  add_unknowns(diagnosis, lines);
  std::erase_if(lines, [](const auto& line) { return line.second.empty(); });
  return lines;
}

namespace {

// Diagnoses on a terminal.

Paint colour_of(const Diagnosis& diagnosis) {
  if (diagnosis.healthy()) return Paint::green;
  return diagnosis.bottleneck ? Paint::red : Paint::yellow;
}

std::string block(const Diagnosed& one, const TextStyle& style) {
  constexpr std::size_t kIndent = 23;
  std::string text =
      "    " + paint(wrap(printable(title_of(one.observation)), 4, 6, style), Paint::bold, style) +
      "\n";
  Paint colour = colour_of(one.diagnosis);
  for (const auto& [label, words] : lines_of(one)) {
    text += "      " + paint(fmt::format("{:<17}", label), Paint::dim, style) +
            paint(wrap(printable(words), kIndent, kIndent, style), colour, style) + "\n";
    colour = Paint::none;  // the first line is the verdict
  }
  return text;
}

}  // namespace

std::string to_text(const std::vector<Diagnosed>& list, const TextStyle& style) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", paint("bottleneck analysis", Paint::bold, style));
  for (const Diagnosed& one : list) text += block(one, style);
  return text;
}

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

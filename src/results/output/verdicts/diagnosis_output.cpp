#include "results/output/verdicts/diagnosis_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.h"
#include "results/output/document/plot.h"

namespace bench::diagnosis {
namespace {

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

/// Smaller parts of a step are not reported.
constexpr double kNotableShare = 0.001;
constexpr std::size_t kMostBars = 60;

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

/// "images, data loader with steps, step 50 ms".
std::string title_of(const Observation& observation) {
  std::string text = observation.case_name + ", " + subject_words(observation.subject);
  if (!observation.what.empty()) text += ", " + observation.what;
  if (observation.jobs.size() > 1) text += fmt::format(", {} jobs", observation.jobs.size());
  return text;
}

/// "reading samples from storage, 42.1 % of the step time".
std::string cause_and_share(const Finding& finding) {
  const std::string words(words_of(finding.cause));
  if (!std::isfinite(finding.share)) return words;
  return words + ", " + bench::format(finding.share, Unit::ratio) + " of the step time";
}

std::string verdict_words(const Diagnosis& diagnosis) {
  if (diagnosis.bottleneck) return cause_and_share(*diagnosis.bottleneck);
  const std::size_t unknown = diagnosis.not_judged.size();
  if (unknown == 0) return "none: no rule matched";
  return fmt::format("none found; {} rules could not be evaluated", unknown);
}

StyledText verdict_of(const Diagnosis& diagnosis) {
  const Tone wanting = diagnosis.bottleneck ? Tone::bad : Tone::unsure;
  return {verdict_words(diagnosis), diagnosis.healthy() ? Tone::good : wanting};
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

/// The rules that could not be evaluated, grouped by reason.
void add_unknowns(const Diagnosis& diagnosis, FactList& facts) {
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
    facts.rows.emplace_back(std::exchange(label, ""), std::move(text));
  }
}

/// The lines of docs/diagnosis.md; only the first two are always present.
FactList facts_of(const Diagnosed& one) {
  const Diagnosis& diagnosis = one.diagnosis;
  FactList facts{
      {{"case", {title_of(one.observation), Tone::strong}}, {"bottleneck", verdict_of(diagnosis)}}};
  const auto add = [&](const char* label, std::string text) {
    if (!text.empty()) facts.rows.emplace_back(label, std::move(text));
  };
  if (const auto& found = diagnosis.bottleneck) {
    add("evidence", join(found->evidence, "; "));
    const std::string ceiling = ceiling_of(*found);
    add("potential gain", ceiling.empty() ? "no upper bound known" : ceiling);
    add("fix", found->fix);
    add("confirm by", found->experiment);
  }
  if (diagnosis.next) add("next bottleneck", next_words(*diagnosis.next));
  add("other causes", others_of(diagnosis));
  add("step time", parts_of_step(one.observation));
  add_unknowns(diagnosis, facts);
  return facts;
}

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

DocumentTable causes_table(const Diagnosis& diagnosis) {
  DocumentTable table{{{"cause", false}, {"share of step"}, {"max speedup"}, {"evidence", false}}};
  if (diagnosis.all.size() < 2) return table;
  for (const Finding& finding : diagnosis.all)
    table.rows.push_back({{std::string(words_of(finding.cause))},
                          value_cell(finding.share, Unit::ratio),
                          value_cell(finding.gain, Unit::count),
                          {join(finding.evidence, "; ")}});
  return table;
}

}  // namespace

void add_diagnoses(Document& document, const std::vector<Diagnosed>& list,
                   const std::string& heading) {
  if (list.empty()) return;
  document.add(Heading{heading});
  document.add(
      Figure{to_svg(bars_of(list)), "Parts of a step that were not measured are not drawn."});
  for (const Diagnosed& one : list) {
    document.add(facts_of(one));
    document.add(causes_table(one.diagnosis), Audience::page);
  }
}

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

}  // namespace bench::diagnosis

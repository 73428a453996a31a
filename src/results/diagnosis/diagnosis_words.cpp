// What every form of a diagnosis says in the same words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"

namespace bench::diagnosis {
namespace {

/// Parts of a step below this are not told.
constexpr double kNotableShare = 0.001;

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string subject_words(Subject subject) {
  switch (subject) {
    case Subject::training:
      return "a training";
    case Subject::loader:
      return "a loader with steps";
    case Subject::checkpoint:
      break;
  }
  return "checkpoints beside steps";
}

std::string verdict_of(const Diagnosis& diagnosis) {
  if (diagnosis.bottleneck) return cause_and_share(*diagnosis.bottleneck);
  const std::size_t unknown = diagnosis.not_judged.size();
  if (unknown == 0) return "nothing: no rule holds";
  return fmt::format("none is known: no rule holds of those that could be judged, {} could not",
                     unknown);
}

/// Without a bound, why there is none, where that is known.
std::string ceiling_of(const Finding& finding) {
  if (!std::isfinite(finding.gain)) return finding.gain_text;
  std::string text = fmt::format("at most {:.3g} times as fast", finding.gain);
  return finding.gain_text.empty() ? text : text + ": " + finding.gain_text;
}

std::string next_words(const Finding& next) {
  const std::string ceiling = ceiling_of(next);
  return cause_and_share(next) + (ceiling.empty() ? "" : "; " + ceiling);
}

/// Causes beside the bottleneck and the next one.
std::string others_of(const Diagnosis& diagnosis) {
  const auto told = [](const std::optional<Finding>& one, const Finding& finding) {
    return one && one->rule == finding.rule;
  };
  std::vector<std::string> parts;
  for (const Finding& finding : diagnosis.all)
    if (!told(diagnosis.bottleneck, finding) && !told(diagnosis.next, finding))
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

/// Rules that could not be judged for one and the same reason stand together.
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
  const char* label = "not judged";
  for (const auto& [names, unknown] : groups) {
    std::string text = join(names, ", ") + ": " + unknown->why;
    if (!unknown->settle.empty()) text += "; to settle it: " + unknown->settle;
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
  return words + ", " + bench::format(finding.share, Unit::ratio) + " of a step";
}

Lines lines_of(const Diagnosed& one) {
  const Diagnosis& diagnosis = one.diagnosis;
  Lines lines = {{"bottleneck", verdict_of(diagnosis)}};
  if (const auto& found = diagnosis.bottleneck) {
    lines.emplace_back("evidence", join(found->evidence, "; "));
    const std::string ceiling = ceiling_of(*found);
    lines.emplace_back("mended", ceiling.empty() ? "no bound of the gain is known" : ceiling);
    lines.emplace_back("fix", found->fix);
    lines.emplace_back("make sure", found->experiment);
  }
  if (diagnosis.next) lines.emplace_back("then", next_words(*diagnosis.next));
  lines.emplace_back("beside it", others_of(diagnosis));
  lines.emplace_back("a step", parts_of_step(one.observation));
  add_unknowns(diagnosis, lines);
  std::erase_if(lines, [](const auto& line) { return line.second.empty(); });
  return lines;
}

}  // namespace bench::diagnosis

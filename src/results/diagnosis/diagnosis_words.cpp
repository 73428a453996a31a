// Text shared by every output form of a diagnosis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.h"
#include "results/diagnosis/diagnosis_output.h"

namespace bench::diagnosis {
namespace {

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
  return fmt::format("none found; {} rules could not be evaluated",
                     unknown);
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
  const auto is_listed = [] (const std::optional<Finding>& one, const Finding& finding) {
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

}  // namespace bench::diagnosis

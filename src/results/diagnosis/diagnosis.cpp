#include "results/diagnosis/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/diagnosis/mended.h"

namespace bench::diagnosis {
namespace {

enum class Judgement { holds, fails, unknown };

bool applies_to(const Rule& rule, const Observation& observation) {
  if (rule.on == On::gpu && !observation.on_gpu) return false;
  if (rule.on == On::host && observation.on_gpu) return false;
  return std::ranges::find(rule.of, observation.subject) != rule.of.end();
}

/// Checkpoints during emulated steps have their own sample count.
bool steps_matter(const Rule& rule, const Observation& observation) {
  return rule.needs_steps && observation.subject != Subject::checkpoint;
}

bool steady(const Observation& observation) {
  return observation.value(Measure::steps) >= kSteadySteps;
}

/// One bound known to fail decides a rule, even if others are unknown.
Judgement judge(const Rule& rule, const Observation& observation) {
  bool known = true;
  for (const Bound& bound : rule.when) {
    const Measured* found = observation.find(bound.measure);
    if (found == nullptr)
      known = false;
    else if (!bound.holds(found->value))
      return Judgement::fails;
  }
  if (steps_matter(rule, observation) && !steady(observation)) known = false;
  return known ? Judgement::holds : Judgement::unknown;
}

std::string evidence_text(Measure measure, const Measured& value, const std::string& bound) {
  return fmt::format("{} {} ({}{}{})", words_of(measure).words,
                     format_measure(measure, value.value), bound,
                     bound.empty() || value.source.empty() ? "" : "; ", value.source);
}

std::vector<std::string> evidence_of(const Rule& rule, const Observation& observation) {
  std::vector<std::string> lines;
  for (const Bound& bound : rule.when)
    lines.push_back(evidence_text(bound.measure, *observation.find(bound.measure), bound.limit_text()));
  for (const Measure measure : rule.evidence)
    if (const Measured* found = observation.find(measure))
      lines.push_back(evidence_text(measure, *found, ""));
  return lines;
}

Finding finding_of(const Rule& rule, const Observation& observation) {
  Finding finding{.cause = rule.cause,
                  .rule = std::string(rule.name),
                  .evidence = evidence_of(rule, observation),
                  .gain = gain(rule.ceiling, observation),
                  .experiment = std::string(rule.experiment),
                  .fix = std::string(rule.fix)};
  if (rule.share) finding.share = observation.value(*rule.share);
  if (std::isfinite(finding.gain)) finding.gain_text = rule.ceiling.text();
  return finding;
}

Unknown too_few_steps(const Observation& observation, Unknown unknown) {
  const Measured* steps = observation.find(Measure::steps);
  if (steps == nullptr) {
    unknown.why = "number of steps unknown";
    unknown.settle = words_of(Measure::steps).measure_by;
  } else {
    unknown.why =
        fmt::format("{:.0f} steady steps, {:.0f} required", steps->value, kSteadySteps);
    unknown.settle = "run more steps (steps, or time_s of a loader)";
  }
  return unknown;
}

Unknown unknown_of(const Rule& rule, const Observation& observation) {
  Unknown unknown{.rule = std::string(rule.name), .cause = rule.cause};
  for (const Bound& bound : rule.when) {
    if (observation.find(bound.measure) != nullptr) continue;
    const MeasureWords& words = words_of(bound.measure);
    const std::string why = observation.why_missing(bound.measure);
    unknown.why += fmt::format("{}{}: {}", unknown.why.empty() ? "" : "; ", words.words,
                               why.empty() ? "not measured" : why);
    if (unknown.settle.find(words.measure_by) == std::string::npos)
      unknown.settle += fmt::format("{}{}", unknown.settle.empty() ? "" : "; ", words.measure_by);
  }
  return unknown.why.empty() ? too_few_steps(observation, unknown) : unknown;
}

/// Whether an earlier finding already explains this share of T.
bool share_explained(const Rule& rule, const std::vector<Finding>& all) {
  return rule.share && std::ranges::any_of(all, [&](const Finding& one) {
           return find_rule(one.rule)->share == rule.share;
         });
}

/// Device work remains after a fix and is reported under one rule only.
bool is_settled(const Rule& rule, const Rule* settled) {
  if (settled == nullptr) return false;
  return &rule == settled ||
         (rule.share && rule.share == settled->share && rule.share == Measure::work_share);
}

/// `settled`: a rule whose cause is fixed; null for none.
Diagnosis causes_of(const Observation& observation, const Rule* settled = nullptr) {
  Diagnosis diagnosis;
  for (const Rule& rule : rules()) {
    if (is_settled(rule, settled) || !applies_to(rule, observation) ||
        share_explained(rule, diagnosis.all))
      continue;
    const Judgement judgement = judge(rule, observation);
    if (judgement == Judgement::holds)
      diagnosis.all.push_back(finding_of(rule, observation));
    else if (judgement == Judgement::unknown)
      diagnosis.not_judged.push_back(unknown_of(rule, observation));
  }
  if (!diagnosis.all.empty()) diagnosis.bottleneck = diagnosis.all.front();
  return diagnosis;
}

bool is_terminal(Cause cause) {
  return cause == Cause::measurement_invalid || cause == Cause::hardware_fault;
}

}  // namespace

bool Diagnosis::healthy() const { return bottleneck && bottleneck->cause == Cause::compute; }

Diagnosis diagnose(const Observation& observation) {
  Diagnosis diagnosis = causes_of(observation);
  if (!diagnosis.bottleneck || is_terminal(diagnosis.bottleneck->cause)) return diagnosis;
  const Rule& rule = *find_rule(diagnosis.bottleneck->rule);
  diagnosis.next = causes_of(after_fix(observation, rule), &rule).bottleneck;
  return diagnosis;
}

std::vector<Diagnosed> diagnose_run(const RunRecords& run) {
  std::vector<Diagnosed> all;
  for (Observation& observation : observe(run)) {
    Diagnosis diagnosis = diagnose(observation);
    all.push_back({std::move(observation), std::move(diagnosis)});
  }
  return all;
}

}  // namespace bench::diagnosis

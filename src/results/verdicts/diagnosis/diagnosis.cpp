#include "results/verdicts/diagnosis/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json_fields.h"
#include "results/verdicts/diagnosis/observers.h"
#include "results/verdicts/diagnosis/run_view.h"

namespace bench::diagnosis {
namespace {

using Kind = Ceiling::Kind;

constexpr const char* kAfterFix = "unknown once the first bottleneck is fixed";

bool is_of_step(Measure measure) {
  return std::ranges::find(step_parts(), measure) != step_parts().end() ||
         measure == Measure::work_share || measure == Measure::launch_gap_share;
}

/// Measures that rules on the same share read, other than shares of T.
std::vector<Measure> measures_of(const Rule& fixed) {
  std::vector<Measure> measures;
  for (const Rule& rule : rules())
    if (rule.share && rule.share == fixed.share)
      for (const Bound& bound : rule.when)
        if (!is_of_step(bound.measure)) measures.push_back(bound.measure);
  return measures;
}

}  // namespace

double removed_part(const Ceiling& ceiling, const Observation& observation) {
  const double measure = std::clamp(observation.value(ceiling.measure), 0.0, 1.0);
  switch (ceiling.kind) {
    case Kind::share:
      return 1.0;
    case Kind::idle:
      return 1.0 - measure;
    case Kind::part:
      return measure;
    default:
      return kNoValue;
  }
}

double gain(const Ceiling& ceiling, const Observation& observation) {
  const double factor =
      ceiling.kind == Kind::clock
          ? 1.0 / observation.value(ceiling.measure)
          : 1.0 / (1.0 - observation.value(ceiling.share) * removed_part(ceiling, observation));
  return std::isfinite(factor) && factor >= 1.0 ? factor : kNoValue;
}

Observation after_fix(const Observation& observation, const Rule& rule) {
  Observation after = observation;
  for (const Measure measure : measures_of(rule)) after.set_missing(measure, kAfterFix);
  const Measure share = rule.ceiling.share;
  const double part = removed_part(rule.ceiling, observation) * observation.value(share);
  if (!std::isfinite(part) || !(part < 1.0)) return after;
  if (!is_of_step(share)) {
    after.set(share, observation.value(share) - part, "after the fix");
    return after;
  }
  for (const auto& [measure, before] : observation.all()) {
    if (!is_of_step(measure)) continue;
    const double left = measure == share ? before.value - part : before.value;
    after.set(measure, std::max(left, 0.0) / (1.0 - part), before.source);
  }
  after.set(Measure::work_share,
            after.value(Measure::passes_share) + after.value(Measure::optimizer_share),
            "passes and update");
  return after;
}

namespace {

// A run's observations: one for each case and length of step, repeats put together.

std::vector<Observation> observe_job(const RunView& view, std::size_t job) {
  const JobResult& result = view.jobs()[job];
  if (result.outcome != Status::ok && result.outcome != Status::invalid) return {};
  if (result.job.probe == "data_loader") return observe_loader(view, job);
  if (result.job.probe == "checkpoint") return observe_checkpoint(view, job);
  return observe_training(view, job);
}

bool same(const Observation& one, const Observation& other) {
  return one.subject == other.subject && one.case_name == other.case_name &&
         one.what == other.what && one.on_gpu == other.on_gpu;
}

/// Runs of tens of thousands of other jobs need not be looked through.
bool has_diagnosable_jobs(const RunRecords& run) {
  return std::ranges::any_of(run.jobs, [](const PlannedJob& job) {
    return job.probe == "training" || job.probe == "external" || job.probe == "data_loader" ||
           job.probe == "checkpoint";
  });
}

}  // namespace

std::vector<Observation> observe(const RunRecords& run) {
  if (!has_diagnosable_jobs(run)) return {};
  const RunView view(run);
  std::vector<std::vector<Observation>> groups;
  for (std::size_t job = 0; job < view.jobs().size(); ++job)
    for (Observation& one : observe_job(view, job)) {
      one.case_name = view.jobs()[job].job.case_name;
      one.jobs = {view.jobs()[job].job.id};
      const auto group = std::ranges::find_if(
          groups, [&](const auto& repeats) { return same(repeats.front(), one); });
      if (group == groups.end())
        groups.push_back({std::move(one)});
      else
        group->push_back(std::move(one));
    }
  std::vector<Observation> all;
  for (const auto& repeats : groups) all.push_back(combined(repeats));
  return all;
}

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
    lines.push_back(
        evidence_text(bound.measure, *observation.find(bound.measure), bound.limit_text()));
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
    unknown.why = fmt::format("{:.0f} steady steps, {:.0f} required", steps->value, kSteadySteps);
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

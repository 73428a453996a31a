#include "results/training/training_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "results/training/training_merge.h"

namespace bench {
namespace {

bool counts_as_run(const TrainingRun& run) { return run.state != TrainingState::not_run; }

/// Infinity for a run that reached no target.
std::vector<double> times_of(const TrainingGroup& group) {
  std::vector<double> times;
  for (const TrainingRun& run : group.runs)
    if (counts_as_run(run))
      times.push_back(run.state == TrainingState::converged ? run.seconds_to_target : HUGE_VAL);
  return times;
}

std::vector<double> samples_of(const TrainingGroup& group) {
  std::vector<double> samples;
  for (const TrainingRun& run : group.runs)
    if (run.state == TrainingState::converged) samples.push_back(run.samples_to_target);
  return samples;
}

void conclude(TrainingGroup& group, const PeakFinder& peak) {
  for (const TrainingRun& run : group.runs)
    if (group.facts.empty() && !run.facts.empty()) {
      group.facts = run.facts;
      group.setup = run.setup;
    }
  if (group.setup.steps > 0) {
    group.time.why = "the run was limited by steps, without a target";
  } else if (on_files(group) && !std::isfinite(group.setup.target)) {
    group.time.why = "no target known for these data: set one with --target G";
  } else {
    const auto times = times_of(group);
    group.time = olympic_mean(times);
    group.seconds = variation(times);
    group.samples = variation(samples_of(group));
  }
  merge_runs(group);
  if (peak && std::isfinite(group.flops)) group.gemm = peak(group.setup);
}

std::vector<TrainingGroup> groups_of(std::span<const RunRecords> runs) {
  std::vector<TrainingGroup> groups;
  std::map<std::string, std::size_t> by_key;
  for (const RunRecords& records : runs)
    for (TrainingRun& run : training_runs(records)) {
      const auto [at, added] = by_key.emplace(key_of(run.setup), groups.size());
      if (added) groups.emplace_back().setup = run.setup;
      groups[at->second].runs.push_back(std::move(run));
    }
  return groups;
}

/// MLPerf requires different seeds: equal seeds are the same training twice.
void warn_of_seeds(const TrainingGroup& group, std::vector<std::string>& warnings) {
  std::set<std::uint64_t> seen, reported;
  for (const TrainingRun& run : group.runs)
    if (!seen.insert(run.seed).second && reported.insert(run.seed).second)
      warnings.push_back(fmt::format(
          "seed {} was used more than once: its runs are not independent, so intervals are too narrow",
          run.seed));
}

/// The samples that a seed takes do not depend on the machine; its seconds do.
void warn_of_machine(const TrainingGroup& group, std::vector<std::string>& warnings) {
  if (group.seconds.low > group.samples.high)
    warnings.push_back(fmt::format(
        "time to target varies by {:.1f} %, samples by {:.1f} %: host speed was unstable; for the seed variation alone {:.0f} runs would suffice",
        100.0 * group.seconds.cv, 100.0 * group.samples.cv, group.samples.runs_needed));
}

void warn_of_setup(const TrainingGroup& group, std::vector<std::string>& warnings) {
  for (const TrainingRun& run : group.runs) {
    if (run.facts.empty()) continue;
    for (const char* key : {"batch", "target", "horizon", "evaluation_every", "lanes", "dtype"})
      if (field(run.facts, key) != field(group.facts, key))
        warnings.push_back(
            fmt::format("job {} of {}: {} is {}, but {} in the other jobs with the same settings",
                        run.job, run.run, key, excerpt(field(run.facts, key)),
                        excerpt(field(group.facts, key))));
  }
}

bool was_interrupted(const RunRecords& run) {
  bool interrupted = false;
  for (const Record& record : run.records)
    if (const auto* event = std::get_if<Event>(&record.body);
        event != nullptr && event->key == kRunEndEvent)
      interrupted = text_field(event->value, "state") == "interrupted";
  return interrupted;
}

/// Whether a run without trainings has diagnoses of loaders or checkpoints.
bool any_diagnosis(const TrainingReport& report) {
  const auto believed = [](const diagnosis::Diagnosed& one) {
    const auto& found = one.diagnosis.bottleneck;
    return !found || found->cause != diagnosis::Cause::measurement_invalid;
  };
  return std::ranges::any_of(report.diagnosed, [&](const DiagnosedRun& run) {
    return std::ranges::any_of(run.diagnoses, believed);
  });
}

ExitCode exit_code_of(const TrainingReport& report) {
  if (report.interrupted) return ExitCode::interrupted;
  bool any = false, wrong = false, missing = false;
  for (const TrainingGroup& group : report.groups)
    for (const TrainingRun& run : group.runs) {
      any = true;
      wrong |= run.state == TrainingState::not_converged || run.state == TrainingState::invalid;
      missing |= run.state == TrainingState::failed || run.state == TrainingState::not_run;
    }
  if (wrong) return ExitCode::failed;
  if (!any) return any_diagnosis(report) ? ExitCode::ok : ExitCode::not_measured;
  return missing ? ExitCode::not_measured : ExitCode::ok;
}

}  // namespace

bool was_timed(const TrainingRun& run) {
  const bool valid = run.state == TrainingState::converged ||
                     run.state == TrainingState::not_converged ||
                     run.state == TrainingState::timed_steps;
  return valid && std::isfinite(run.items_per_second);
}

bool is_external(const TrainingGroup& group) {
  const Json& external = field(group.facts, "external");
  return external.is_boolean() && external.get<bool>();
}

bool on_files(const TrainingGroup& group) {
  return text_field(object_field(group.facts, "data"), "kind") == "files";
}

TrainingReport make_training_report(std::span<const RunRecords> runs, const PeakFinder& peak) {
  TrainingReport report;
  for (const RunRecords& run : runs) {
    report.runs.push_back(run.run);
    report.interrupted |= was_interrupted(run);
    if (auto diagnoses = diagnosis::diagnose_run(run); !diagnoses.empty())
      report.diagnosed.push_back({run.run, std::move(diagnoses)});
    for (const std::string& warning : run.warnings)
      report.warnings.push_back(run.run + ": " + warning);
  }
  report.groups = groups_of(runs);
  for (TrainingGroup& group : report.groups) {
    conclude(group, peak);
    warn_of_seeds(group, report.warnings);
    warn_of_machine(group, report.warnings);
    warn_of_setup(group, report.warnings);
  }
  report.scalings = scalings_of(report.groups);
  report.exit_code = exit_code_of(report);
  return report;
}

}  // namespace bench

#include "results/training/training_state.h"

#include <fmt/format.h>

#include <cmath>

namespace bench {
namespace {

void add_checks(TrainingRun& run) {
  for (const Json& check : array_field(run.facts, "checks")) {
    ++run.checks;
    const Json& held = field(check, "held");
    if (held.is_boolean() && held.get<bool>()) continue;
    run.faults.push_back({text_field(check, "check", "unnamed check"),
                          text_field(check, "text", "no result reported")});
  }
}

/// Why a reported convergence is not credible; "" if it is.
std::string why_not_credible(const TrainingRun& run) {
  if (!std::isfinite(run.quality)) return "reports convergence without a quality";
  if (!std::isfinite(run.setup.target)) return "reports convergence without a target";
  if (!(run.quality <= run.setup.target))
    return fmt::format("reports convergence at a gap of {:.4g}, above the target of {:.4g}",
                       run.quality, run.setup.target);
  if (!(run.seconds_to_target > 0.0) || !std::isfinite(run.seconds_to_target))
    return "reports convergence without a time to target";
  // External logs may not count samples.
  if (run.samples_to_target <= 0.0) return "reports convergence after zero samples";
  return "";
}

std::string gap_reached(const TrainingRun& run) {
  if (!std::isfinite(run.quality)) return "no quality reported";
  if (!std::isfinite(run.setup.target))
    return fmt::format("final gap {:.4g}, no target", run.quality);
  return fmt::format("final gap {:.4g}, target {:.4g}", run.quality, run.setup.target);
}

void judge_quality(TrainingRun& run) {
  const Json& converged = field(run.facts, "converged");
  if (run.setup.steps > 0) {
    run.state =
        std::isfinite(run.items_per_second) ? TrainingState::timed_steps : TrainingState::failed;
    if (run.state == TrainingState::failed) run.reason = "no throughput reported";
    return;
  }
  run.state = TrainingState::not_converged;
  if (!converged.is_boolean())
    run.state = TrainingState::failed, run.reason = "convergence not reported";
  else if (!converged.get<bool>())
    run.reason = gap_reached(run);
  else if (run.reason = why_not_credible(run); run.reason.empty())
    run.state = TrainingState::converged;
  else
    run.state = TrainingState::invalid;
}

}  // namespace

void judge(TrainingRun& run, const JobResult& job) {
  add_checks(run);
  run.reason = job.reason;
  if (job.not_run || job.outcome == Status::skipped) return;  // state not_run
  if (job.outcome == Status::invalid || !run.faults.empty()) {
    run.state = TrainingState::invalid;
    if (!run.faults.empty()) run.reason = fault_words(run.faults.front());
  } else if (job.outcome == Status::ok) {
    judge_quality(run);
  } else {
    run.state = TrainingState::failed;
  }
}

std::string fault_words(const TrainingFault& fault) { return fault.check + ": " + fault.text; }

std::string own_reason(const TrainingRun& run) {
  const bool of_fault = !run.faults.empty() && run.reason == fault_words(run.faults.front());
  return of_fault ? "" : run.reason;
}

std::string_view to_string(TrainingState state) {
  switch (state) {
    case TrainingState::converged:
      return "converged";
    case TrainingState::not_converged:
      return "not_converged";
    case TrainingState::invalid:
      return "invalid";
    case TrainingState::failed:
      return "failed";
    case TrainingState::timed_steps:
      return "timed_steps";
    case TrainingState::not_run:
      break;
  }
  return "not_run";
}

}  // namespace bench

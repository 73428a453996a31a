#include "results/mlperf/follow/progress_report.h"

#include <cmath>
#include <vector>

namespace bench::mlperf {
namespace {

constexpr double kMinute_ms = 60'000.0;

RunPhase phase_of(const RunFacts& facts) {
  if (facts.stopped) return RunPhase::stopped;
  if (facts.started) return RunPhase::training;
  if (facts.init_stop_ms) return RunPhase::initialised;
  return facts.init_start_ms ? RunPhase::initialising : RunPhase::waiting;
}

std::optional<double> progress_in(const Evaluation& evaluation, const RunGoal& goal) {
  return goal.progress == "epoch_num" ? evaluation.epoch_num : evaluation.samples_count;
}

/// The evaluations that have a value and a training progress.
std::vector<EvaluationPoint> evaluation_points(const RunFacts& facts, const RunGoal& goal) {
  std::vector<EvaluationPoint> points;
  for (const Evaluation& evaluation : facts.evaluations) {
    const auto progress = progress_in(evaluation, goal);
    if (progress && evaluation.value.is_number())
      points.push_back({*progress, evaluation.time_ms, evaluation.value.number()});
  }
  return points;
}

void set_init(ProgressReport& report, const RunFacts& facts, double now_ms) {
  if (!facts.init_start_ms) return;
  report.init_minutes = (facts.init_stop_ms.value_or(now_ms) - *facts.init_start_ms) / kMinute_ms;
  if (const auto limit = init_limit_minutes(facts.division))
    report.init_left_minutes = *limit - *report.init_minutes;
}

Pace pace_at(double progress, const RunGoal& goal) {
  if (!goal.reference_mean || !goal.reference_least) return Pace::unknown;
  if (progress < *goal.reference_least) return Pace::too_fast;
  return progress < *goal.reference_mean ? Pace::scaled : Pace::unscaled;
}

void set_distance(ProgressReport& report, const std::vector<EvaluationPoint>& points, const RunGoal& goal) {
  if (points.empty()) return;
  report.quality = points.back().quality;
  report.progress = points.back().progress;
  if (!goal.target) return;
  report.distance =
      goal.lower_is_better ? *report.quality - *goal.target : *goal.target - *report.quality;
}

void set_projection(ProgressReport& report, const std::vector<EvaluationPoint>& points, const RunFacts& facts) {
  const RunGoal& goal = report.goal;
  const bool reached = report.distance && *report.distance <= 0.0;
  if (report.phase == RunPhase::training && !reached) {
    report.projection = goal.target ? project(points, *goal.target, goal.lower_is_better)
                                    : Projection{{}, {}, goal.why_no_target};
    if (report.projection.stop_ms)
      report.projected_minutes =
          (*report.projection.stop_ms - facts.run_start_ms.value()) / kMinute_ms;
  }
  const auto end = report.projection.progress ? report.projection.progress : report.progress;
  if (end && (reached || report.projection.progress)) report.pace = pace_at(*end, goal);
}

}  // namespace

std::optional<double> init_limit_minutes(std::string_view division) {
  if (division == "closed") return 30.0;
  if (division == "open") return 240.0;
  return {};
}

ProgressReport progress_of(const Log& log, const RunGoal& goal, double now_ms) {
  const RunFacts facts = facts_of(log);
  ProgressReport report;
  report.phase = phase_of(facts);
  report.benchmark = facts.benchmark;
  report.division = facts.division;
  report.goal = goal;
  report.status = facts.status;
  report.invalid_lines = log.invalid_lines.size();
  report.evaluations = facts.evaluations.size();
  set_init(report, facts, now_ms);
  if (facts.started)
    report.run_minutes =
        facts.stopped ? facts.minutes : (now_ms - *facts.run_start_ms) / kMinute_ms;
  const std::vector<EvaluationPoint> points = evaluation_points(facts, goal);
  set_distance(report, points, goal);
  set_projection(report, points, facts);
  return report;
}

}  // namespace bench::mlperf

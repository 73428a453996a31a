#include "mlperf/follow/progress_report.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/order_statistics.h"

namespace bench::mlperf {
namespace {

constexpr double kMaxExtrapolation =
    100.0;  // limit of the extrapolation, relative to the progress so far

struct Line {
  double at_zero = 0.0;  // value at ln(progress) = 0
  double slope = 0.0;
};

Line line_through(std::span<const EvaluationPoint> points) {
  const auto n = static_cast<double>(points.size());
  double mean_x = 0.0, mean_y = 0.0, sxx = 0.0, sxy = 0.0;
  for (const EvaluationPoint& point : points) {
    mean_x += std::log(point.progress) / n;
    mean_y += point.quality / n;
  }
  for (const EvaluationPoint& point : points) {
    const double x = std::log(point.progress) - mean_x;
    sxx += x * x;
    sxy += x * (point.quality - mean_y);
  }
  const double slope = sxy / sxx;
  return {mean_y - slope * mean_x, slope};
}

bool usable(std::span<const EvaluationPoint> points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!std::isfinite(points[i].quality) || !(points[i].progress > 0.0) ||
        (i > 0 && !(points[i].progress > points[i - 1].progress)))
      return false;
  return true;
}

Projection none(std::string why) { return {{}, {}, std::move(why)}; }

}  // namespace

Projection project(std::span<const EvaluationPoint> points, double target, bool lower_is_better) {
  if (points.size() < 3) return none("at least three evaluations are needed");
  points = points.last(std::min(points.size(), kPointsForProjection));
  if (!usable(points)) return none("the evaluations are not in increasing order");
  const Line line = line_through(points);
  if (lower_is_better ? !(line.slope < 0.0) : !(line.slope > 0.0))
    return none("the last evaluations do not approach the target");
  const EvaluationPoint& first = points.front();
  const EvaluationPoint& last = points.back();
  const double crossing = std::exp((target - line.at_zero) / line.slope);
  if (!(crossing <= last.progress * kMaxExtrapolation))
    return none("the target is too far away to project");
  const double step = last.progress - points[points.size() - 2].progress;
  const double steps = std::max(1.0, std::ceil((crossing - last.progress) / step));
  const double progress = last.progress + steps * step;
  const double pace = (last.time_ms - first.time_ms) / (last.progress - first.progress);
  return {progress, last.time_ms + (progress - last.progress) * pace, {}};
}

EvaluationRate evaluation_rate(std::span<const EvaluationPoint> points) {
  constexpr double kSlow = 1.25;
  constexpr std::size_t kLeastUsual = 2;    // rates, before another can be slow
  constexpr std::size_t kMostPoints = 200;  // the last ones say what is usual now
  points = points.last(std::min(points.size(), kMostPoints));
  EvaluationRate found;
  std::vector<double> usual;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double seconds = (points[i].time_ms - points[i - 1].time_ms) / 1000.0;
    const double rate = (points[i].progress - points[i - 1].progress) / seconds;
    if (!(seconds > 0.0) || !(rate > 0.0)) continue;
    found.last = rate;
    if (usual.size() >= kLeastUsual && rate * kSlow < median(usual)) {
      if (!found.slow_since) found.slow_since = points[i - 1].progress;
      continue;
    }
    found.slow_since.reset();
    usual.push_back(rate);
  }
  if (usual.size() > 1 && !found.slow_since) usual.pop_back();  // the last one
  if (found.last && !usual.empty()) found.usual = median(usual);
  return found;
}

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

void set_distance(ProgressReport& report, const std::vector<EvaluationPoint>& points,
                  const RunGoal& goal) {
  if (points.empty()) return;
  report.quality = points.back().quality;
  report.progress = points.back().progress;
  if (!goal.target) return;
  report.distance =
      goal.lower_is_better ? *report.quality - *goal.target : *goal.target - *report.quality;
}

void set_projection(ProgressReport& report, const std::vector<EvaluationPoint>& points,
                    const RunFacts& facts) {
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
  if (!log.entries.empty()) report.last_line_ms = log.entries.back().time_ms;
  set_init(report, facts, now_ms);
  if (facts.started)
    report.run_minutes =
        facts.stopped ? facts.minutes : (now_ms - *facts.run_start_ms) / kMinute_ms;
  const std::vector<EvaluationPoint> points = evaluation_points(facts, goal);
  set_distance(report, points, goal);
  report.rate = evaluation_rate(points);
  set_projection(report, points, facts);
  return report;
}

}  // namespace bench::mlperf

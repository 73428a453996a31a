#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "results/scaling/scaling_curves.h"
#include "results/training/training_report.h"

namespace bench {
namespace {

/// The part of a step in which ranks wait for each other's gradients.
constexpr std::string_view kExposed = "exchange_exposed";

double exposed_share(const TrainingGroup& group) {
  for (const TrainingPhase& phase : group.breakdown)
    if (phase.phase == kExposed) return phase.share;
  return kNoValue;
}

double samples_to_target(const TrainingGroup& group) {
  std::vector<double> samples;
  for (const TrainingRun& run : group.runs)
    if (run.state == TrainingState::converged) samples.push_back(run.samples_to_target);
  return std::exp(log_mean(samples).mean);
}

/// Of trainings what they process counts; what a larger batch costs in samples stands beside it.
ScalingCurve training_curve(const TrainingReport& report, const Scaling& scaling) {
  ScalingCurve curve;
  const TrainingGroup& base = report.groups[scaling.points.front().group];
  curve.metric = "training.items_per_second";
  curve.params = {{"workload", base.setup.workload},
                  {"preset", base.setup.preset},
                  {"dtype", base.setup.dtype}};
  curve.params[scaling.weak ? "batch_per_rank" : "batch"] =
      scaling.weak ? base.setup.batch / std::max<std::int64_t>(1, base.setup.ranks)
                   : base.setup.batch;
  curve.device = base.setup.device;
  curve.over = "ranks";
  curve.kind = scaling.weak ? "weak" : "strong";
  for (const ScalingPoint& from : scaling.points) {
    const TrainingGroup& group = report.groups[from.group];
    ScalePoint point{static_cast<double>(from.ranks)};
    for (const TrainingRun& run : group.runs)
      if (was_timed(run) && run.items_per_second > 0.0)
        point.values.push_back(run.items_per_second);
    if (point.values.empty()) continue;
    point.value = {from.items_per_second, group.items_low, group.items_high};
    point.communication = exposed_share(group);
    point.samples_penalty = samples_to_target(group) / samples_to_target(base);
    point.time_efficiency = from.time_efficiency;
    curve.points.push_back(std::move(point));
  }
  return curve;
}

}  // namespace

void add_trainings(std::span<const RunRecords> runs, const ScalingSettings& settings,
                   ScalingReport& report) {
  if (settings.over != "ranks" || !is_asked("training.items_per_second", settings)) return;
  const TrainingReport training = make_training_report(runs);
  report.seen +=
      training.groups.size() - std::min(training.groups.size(), training.scalings.size());
  for (const Scaling& scaling : training.scalings)
    add_curve(training_curve(training, scaling), settings, report);
}

}  // namespace bench

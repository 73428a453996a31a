#include "results/run/training_gauges.h"

#include <algorithm>

#include "core/error.h"

namespace bench {
namespace {

const std::vector<std::pair<const char*, const char*>> kTrainingGauges = {
    {"benchctl_training_running", "1 while the training runs, 0 after its end."},
    {"benchctl_training_report_timestamp_seconds",
     "When it was last heard of, seconds since the Unix epoch."},
    {"benchctl_training_step", "Steps done."},
    {"benchctl_training_last_step", "Step at which it ends if it does not meet its target."},
    {"benchctl_training_elapsed_seconds", "Since the first access to training data."},
    {"benchctl_training_projected_seconds", "Projected time to train; not an official metric."},
    {"benchctl_training_items_per_second", "Tokens or samples per second of all ranks."},
    {"benchctl_training_step_seconds", "Mean time of a step since the last report."},
    {"benchctl_training_loss", "Training loss since the last report."},
    {"benchctl_training_gap", "Gap from the best attainable quality, last evaluation."},
    {"benchctl_training_target_gap", "The gap to reach."},
    {"benchctl_training_quality", "Last evaluation in a log of MLPerf's format."},
    {"benchctl_training_target_quality", "The quality to reach."},
    {"benchctl_training_samples", "Samples trained on at that evaluation."},
    {"benchctl_training_epochs", "Epochs trained at that evaluation."},
    {"benchctl_training_samples_per_second", "Between its last two evaluations."},
    {"benchctl_training_epochs_per_second", "Between its last two evaluations."},
    {"benchctl_training_mfu_ratio", "Model FLOPs utilization since the last report."},
    {"benchctl_training_slow", "1 while it is slower than usual, else 0."},
    {"benchctl_training_slow_since_step", "The step at which the slowdown began."}};

}  // namespace

void TrainingGauges::add(const std::string& name, const GaugeLabels& labels,
                         std::optional<double> value) {
  const std::string whole = "benchctl_training_" + name;
  if (std::ranges::none_of(kTrainingGauges, [&](const auto& one) { return one.first == whole; }))
    throw Error(ErrorKind::internal, "no gauge is called " + whole);
  if (value) gauges_.add(whole, labels, *value);
}

std::string TrainingGauges::text() const { return gauges_.text(kTrainingGauges); }

}  // namespace bench

// All correctness checks of a run, repeated at an interval of steps; the first fault is kept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "probes/training/optimizers/gradient_outliers.h"
#include "probes/training/trainer/data_audit.h"
#include "probes/training/trainer/moved_parameters.h"
#include "probes/training/trainer/training_check.h"

namespace bench::training {

class RunChecks {
 public:
  /// `every`: minimum number of steps between checks of data and replicas. All parameters must have
  /// changed by the first check.
  RunChecks(DataAudit audit, const Replica& replica, std::int64_t every)
      : audit_(audit), replica_(replica), moved_(replica), every_(every) {}

  void after_step(std::int64_t step, double gradient_norm) { outliers_.observe(step, gradient_norm); }
  bool due(std::int64_t steps_done) const {
    return rounds_ == 0 || steps_done >= last_checked_step_ + every_;
  }
  /// Call on every rank after `steps_done` steps, before any other samples are read.
  void run(std::int64_t steps_done, Group& group);
  /// Gradient norm averages, for checkpoints.
  GradientOutliers::Averages norms() const { return outliers_.averages(); }
  void resume(const GradientOutliers::Averages& norms) { outliers_.resume(norms); }
  /// Call once, at the end of the run.
  std::vector<TrainingCheck> finish(const Group& group) const;

 private:
  void compare_replicas(std::int64_t steps_done, Group& group);
  TrainingCheck outlier_check() const;

  DataAudit audit_;
  const Replica& replica_;
  MovedParameters moved_;
  GradientOutliers outliers_;
  std::int64_t every_;
  std::int64_t rounds_ = 0;
  std::int64_t last_checked_step_ = 0;
  std::int64_t movement_checked_step_ = 0;  // 0: not checked yet
  std::string unchanged_ = {}, data_ = {}, replicas_ = {};
};

}  // namespace bench::training

// Progress of a run that a checkpoint stores in addition to the model.
#pragma once

#include <vector>

#include "core/json.h"
#include "core/units.h"
#include "training/optimizers/gradient_outliers.h"
#include "training/optimizers/loss_scale.h"
#include "training/trainer/training_run.h"

namespace bench::training {

struct RunProgress {
  Seconds elapsed;  // since run_start, without the time between two processes
  std::vector<CurvePoint> curve = {};
  GradientOutliers::Averages norms = {};
  LossScale::State loss_scale = {};
};

Json to_json(const RunProgress& progress);
/// Throws Error(input) for what to_json() does not make.
RunProgress run_progress_from_json(const Json& json);

}  // namespace bench::training

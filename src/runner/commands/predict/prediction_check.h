// An answer of `benchctl predict` held against what was measured.
#pragma once

#include "results/predictions/prediction.h"
#include "results/verdicts/compare/side.h"
#include "runner/commands/predict/predict_command.h"

namespace bench {

/// The values of the side's series of this kind; params are compared as numbers or texts. Throws
/// Error(input) if no series, or several, match, saying which there are, and if their unit is not
/// that of the prediction.
PredictionCheck check_prediction(const Prediction& prediction, const Side& side,
                                 const MeasuredAs& measured_as);

/// The prediction's own metric, or --metric, narrowed by --where. Throws Error(usage) for a
/// question without a metric of its own if none is named, and for a condition that is not
/// KEY=VALUE.
MeasuredAs measurement_sought(const Prediction& prediction, const PredictOptions& options);

/// By --check and what is sought.
PredictionCheck check_prediction(const Prediction& prediction, const PredictOptions& options);

}  // namespace bench
